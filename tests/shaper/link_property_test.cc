// Random schedules over random links: what must hold of every link, and what a slow reference says.

#include <algorithm>
#include <random>

#include "tests/shaper/link_fixture.h"
#include "tests/shaper/reference_link.h"
#include "tests/test_seed.h"

namespace reprise {
namespace {

constexpr int kSchedules = 10'000;
constexpr int kPacketsMax = 60;

struct Arrival {
  nanoseconds at;
  std::uint32_t size_bytes;
};

/// What one run of a schedule came to.
struct Run {
  std::vector<Admission> verdicts;
  std::vector<Departure> departures;
  LinkCounters counters;
};

class Schedule {
 public:
  explicit Schedule(std::uint64_t seed) : random_(seed), seed_(seed) {
    choose_rate();
    settings_.delay = chance(4) ? 0ns : nanoseconds(below(200'000'000));
    if (chance(3)) settings_.jitter = nanoseconds(below(50'000'000));
    settings_.reorder = chance(3);
    if (chance(3)) settings_.burst_bytes = static_cast<std::uint32_t>(below(6000));
    settings_.queue.packets = static_cast<std::uint32_t>(1 + below(chance(2) ? 4 : 50));
    if (chance(3)) settings_.queue = {.packets = 0, .bytes = 1 + below(20'000)};
    if (chance(3)) settings_.loss.in_good = 0.3;
    if (chance(5)) settings_.loss = {0.01, 0.2, 0.3, 0.9};
    if (chance(3) && !settings_.trace) choose_outages();
    choose_arrivals();
  }

  void with(QueueDiscipline discipline) {
    settings_.active_queue = {discipline, nanoseconds(1 + below(5'000'000)),
                              nanoseconds(1'000'000 + below(20'000'000))};
    settings_.queue = {.packets = 1000};
  }

  /// The caller asks at every event, or looks only now and then.
  Run run(bool eager) {
    Link link(settings_, seed_, 0, 0ns);
    Run run;
    for (std::size_t i = 0; i < arrivals_.size(); ++i) {
      auto next = link.next_event();
      while (eager && next && *next <= arrivals_[i].at) {
        link.take_due(*next, run.departures);
        next = link.next_event();
      }
      if (!eager && chance(8)) link.take_due(arrivals_[i].at, run.departures);
      run.verdicts.push_back(link.enqueue({i, arrivals_[i].size_bytes}, arrivals_[i].at));
      auto const c = link.counters();
      EXPECT_EQ(c.packets_in, c.packets_out + c.lost + c.outage_drops + c.queue_drops +
                                  c.aqm_drops + c.queued_packets + c.in_flight);
    }
    nanoseconds last = arrivals_.back().at;
    for (auto next = link.next_event(); next; next = link.next_event()) {
      // What CoDel dropped may be told late; deliveries are never due before what was asked.
      EXPECT_TRUE(*next >= last || !eager || link.counters().aqm_drops > 0);
      last = std::max(last, *next);
      link.take_due(last, run.departures);
    }
    run.counters = link.counters();
    return run;
  }

  const LinkSettings& settings() const { return settings_; }
  const std::vector<Arrival>& arrivals() const { return arrivals_; }
  std::uint64_t seed() const { return seed_; }

 private:
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
  bool chance(std::uint64_t one_in) { return below(one_in) == 0; }

  void choose_rate() {
    if (chance(10)) return;
    if (chance(5)) {
      std::string text;
      std::uint64_t time_ms = below(3);
      for (auto lines = 1 + below(20); lines > 0; --lines) {
        text += std::to_string(time_ms) + "\n";
        time_ms += chance(2) ? 0 : below(10);
      }
      settings_.trace = trace_of(text + std::to_string(time_ms + 1));
      return;
    }
    // From 10 kbit/s to 10 Gbit/s, never round.
    settings_.rate_bps = 10'000;
    for (auto tens = below(6); tens > 0; --tens) settings_.rate_bps *= 10;
    settings_.rate_bps += below(9 * settings_.rate_bps);
  }

  void choose_outages() {
    auto time = nanoseconds(below(20'000'000));
    for (auto count = 1 + below(4); count > 0; --count) {
      auto const to = time + nanoseconds(1 + below(20'000'000));
      settings_.outages.off.push_back({time, to});
      time = to + nanoseconds(below(20'000'000));
    }
    if (chance(2)) settings_.outages.repeat = time + 1ns;
  }

  void choose_arrivals() {
    auto const rate = settings_.rate_bps > 0 ? settings_.rate_bps : 12'000'000;
    // What a full packet takes, times 0 to 2: now a queue builds, now it drains.
    auto const packet_ns = 12'000ULL * 1'000'000'000 / rate;
    auto const spread = 1 + below(2 * packet_ns);
    nanoseconds now{0};
    for (auto count = 1 + below(kPacketsMax); count > 0; --count) {
      if (!chance(4)) now += nanoseconds(below(spread));
      if (chance(20)) now += nanoseconds(20 * spread);
      arrivals_.push_back({now, static_cast<std::uint32_t>(1 + below(chance(20) ? 65'535 : 1500))});
    }
  }

  std::mt19937_64 random_;
  std::uint64_t seed_;
  LinkSettings settings_;
  std::vector<Arrival> arrivals_;
};

void expect_same(const Run& one, const Run& other) {
  EXPECT_EQ(one.verdicts, other.verdicts);
  auto const sorted = [](std::vector<Departure> list) {
    std::ranges::sort(list, {}, &Departure::handle);
    return list;
  };
  auto const a = sorted(one.departures);
  auto const b = sorted(other.departures);
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].handle, b[i].handle);
    EXPECT_EQ(a[i].due, b[i].due);
    EXPECT_EQ(a[i].outcome, b[i].outcome);
  }
}

/// Every packet has one end, in the order that was asked for, and none is early.
void expect_sound(const Schedule& schedule, const Run& run) {
  auto const queued = std::ranges::count(run.verdicts, Admission::queued);
  ASSERT_EQ(run.departures.size(), static_cast<std::size_t>(queued));
  EXPECT_EQ(run.counters.queued_packets + run.counters.in_flight, 0);
  std::vector<bool> told(run.verdicts.size(), false);
  std::optional<Departure> before;
  for (const Departure& departure : run.departures) {
    ASSERT_LT(departure.handle, told.size());
    EXPECT_FALSE(told[departure.handle]);
    told[departure.handle] = true;
    EXPECT_EQ(run.verdicts[departure.handle], Admission::queued);
    if (departure.outcome == PacketFate::dropped) continue;
    EXPECT_GE(departure.due, schedule.arrivals()[departure.handle].at + schedule.settings().delay);
    if (before && !schedule.settings().reorder) {
      EXPECT_GT(departure.handle, before->handle);
      EXPECT_GE(departure.due, before->due);
    }
    before = departure;
  }
}

/// Over any window between two departures from the wire: at most rate x time, and the burst.
void expect_rate_kept(const LinkSettings& settings, const std::vector<Arrival>& arrivals,
                      const std::vector<std::pair<std::size_t, nanoseconds>>& left) {
  if (settings.rate_bps == 0) return;
  for (std::size_t from = 0; from < left.size(); ++from) {
    unsigned __int128 bits = 0;
    for (std::size_t to = from + 1; to < left.size(); ++to) {
      bits += arrivals[left[to].first].size_bytes * 8U;
      // One nanosecond for rounding the departures up.
      auto const time = static_cast<std::uint64_t>((left[to].second - left[from].second).count());
      auto const allowed = static_cast<unsigned __int128>(time + 1) * settings.rate_bps +
                           static_cast<unsigned __int128>(settings.burst_bytes) * 8'000'000'000;
      ASSERT_LE(bits * 1'000'000'000, allowed);
    }
  }
}

/// The wire never rests while a packet waits: each leaves as soon as its size allows.
void expect_work_conserved(const LinkSettings& settings, const std::vector<Arrival>& arrivals,
                           const std::vector<std::pair<std::size_t, nanoseconds>>& left) {
  if (settings.rate_bps == 0 || !settings.outages.off.empty()) return;
  nanoseconds free{0};
  for (const auto& [index, leaves] : left) {
    auto const work = arrivals[index].size_bytes * 8'000'000'000ULL;
    auto const takes = nanoseconds((work + settings.rate_bps - 1) / settings.rate_bps);
    EXPECT_LE(leaves, std::max(free, arrivals[index].at) + takes);
    free = leaves;
  }
}

void expect_as_reference(const Schedule& schedule, const Run& run) {
  ReferenceLink reference(schedule.settings(), schedule.seed());
  std::vector<nanoseconds> due(run.verdicts.size(), -1ns);
  for (const Departure& departure : run.departures) due[departure.handle] = departure.due;
  std::vector<std::pair<std::size_t, nanoseconds>> left;
  for (std::size_t i = 0; i < run.verdicts.size(); ++i) {
    auto const& [at, size_bytes] = schedule.arrivals()[i];
    auto const fate = reference.enqueue(size_bytes, at);
    ASSERT_EQ(run.verdicts[i], fate.verdict) << "packet " << i;
    if (fate.verdict != Admission::queued) continue;
    ASSERT_EQ(due[i], fate.due) << "packet " << i;
    left.emplace_back(i, fate.leaves);
  }
  expect_rate_kept(schedule.settings(), schedule.arrivals(), left);
  expect_work_conserved(schedule.settings(), schedule.arrivals(), left);
}

TEST(LinkProperty, HoldsForRandomSchedulesAndEqualsTheReference) {
  for_seeds(kSchedules, [](std::uint64_t seed) {
    Schedule schedule(seed);
    auto const run = schedule.run(true);
    expect_sound(schedule, run);
    expect_same(run, schedule.run(false));
    expect_as_reference(schedule, run);
  });
}

TEST(LinkProperty, HoldsWithActiveQueues) {
  std::uint64_t dropped = 0;
  for_seeds(kSchedules / 4, [&dropped](std::uint64_t seed) {
    Schedule schedule(seed);
    schedule.with(seed % 2 == 0 ? QueueDiscipline::codel : QueueDiscipline::pie);
    auto const run = schedule.run(true);
    expect_sound(schedule, run);
    expect_same(run, schedule.run(false));
    dropped += run.counters.aqm_drops;
  });
  EXPECT_GT(dropped, 100);
}

}  // namespace
}  // namespace reprise
