#include "shaper/description.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <charconv>
#include <vector>

#include "shaper/trace.h"
#include "shaper/units.h"

namespace reprise {

namespace json = boost::json;
using std::chrono::nanoseconds;

namespace {

constexpr nanoseconds kZero{0};

/// With as many decimals as it takes to read the same share again, at most as many as texts can
/// have.
std::string percent(double share) {
  constexpr int kDecimalsMax = 15;
  char digits[64];
  for (int decimals = 0;; ++decimals) {
    auto* const end = std::to_chars(std::begin(digits), std::end(digits), share * 100,
                                    std::chars_format::fixed, decimals)
                          .ptr;
    double read = 0;
    std::from_chars(digits, end, read);
    if (read / 100 == share || decimals == kDecimalsMax) return std::string(digits, end) + "%";
  }
}

const char* discipline_text(QueueDiscipline discipline) {
  switch (discipline) {
    case QueueDiscipline::drop_tail:
      return "droptail";
    case QueueDiscipline::codel:
      return "codel";
    case QueueDiscipline::pie:
      return "pie";
  }
  return "";
}

std::string outage_text(const Outages& outages) {
  std::string text;
  for (const auto& [from, to] : outages.off) {
    if (outages.repeat > kZero) return time_text(from) + "/" + time_text(to - from);
    text += (text.empty() ? "" : "+") + time_text(from) + "-" + time_text(to);
  }
  return text;
}

std::string loss_text(const LossModel& loss) {
  return percent(loss.good_to_bad) + "/" + percent(loss.bad_to_good) + "/" + percent(loss.in_bad) +
         "/" + percent(loss.in_good);
}

/// The keys of a direction besides rate and delay, in the order of LINKS.md.
std::vector<std::pair<std::string, std::string>> keys_of(const LinkSettings& settings) {
  std::vector<std::pair<std::string, std::string>> keys;
  if (settings.jitter > kZero) keys.emplace_back("jitter", time_text(settings.jitter));
  if (settings.reorder) keys.emplace_back("reorder", "yes");
  if (settings.burst_bytes > 0) {
    keys.emplace_back("burst", std::to_string(settings.burst_bytes) + "b");
  }
  auto const& queue = settings.queue;
  keys.emplace_back("queue", queue.bytes > 0 ? std::to_string(queue.bytes) + "b"
                                             : std::to_string(queue.packets) + "p");
  auto const& active = settings.active_queue;
  if (active.discipline != QueueDiscipline::drop_tail) {
    keys.emplace_back("aqm", discipline_text(active.discipline));
  }
  if (active.target > kZero) keys.emplace_back("target", time_text(active.target));
  if (active.interval > kZero) keys.emplace_back("interval", time_text(active.interval));
  auto const& loss = settings.loss;
  if (loss != LossModel{.in_good = loss.in_good}) {
    keys.emplace_back("ge", loss_text(loss));
  } else if (loss.in_good > 0) {
    keys.emplace_back("loss", percent(loss.in_good));
  }
  if (!settings.outages.off.empty()) keys.emplace_back("outage", outage_text(settings.outages));
  return keys;
}

json::value ms(nanoseconds time) {
  // Whole milliseconds look like the given text.
  if (time.count() % 1'000'000 == 0) return time.count() / 1'000'000;
  return std::chrono::duration<double, std::milli>(time).count();
}

json::value if_any(std::uint64_t number) {
  return number == 0 ? json::value(nullptr) : json::value(number);
}

json::value trace_json(const LinkSettings& settings) {
  if (!settings.trace) return nullptr;
  return json::object{{"file", settings.trace->name()},
                      {"sha256", settings.trace->sha256()},
                      {"period_ms", ms(settings.trace->period())},
                      {"mean_rate_bps", settings.trace->mean_rate_bps()}};
}

json::object direction_json(const LinkSettings& settings) {
  json::array outages;
  for (const auto& [from, to] : settings.outages.off) {
    outages.push_back(json::object{{"from_ms", ms(from)}, {"to_ms", ms(to)}});
  }
  auto const& active = settings.active_queue;
  return {{"rate_bps", if_any(settings.rate_bps)},
          {"trace", trace_json(settings)},
          {"delay_ms", ms(settings.delay)},
          {"jitter_ms", ms(settings.jitter)},
          {"reorder", settings.reorder},
          {"burst_bytes", settings.burst_bytes},
          {"queue_packets", if_any(settings.queue.packets)},
          {"queue_bytes", if_any(settings.queue.bytes)},
          {"aqm", discipline_text(active.discipline)},
          {"aqm_target_ms", active.target > kZero ? ms(active.target) : nullptr},
          {"aqm_interval_ms", active.interval > kZero ? ms(active.interval) : nullptr},
          {"loss", json::object{{"in_good", settings.loss.in_good},
                                {"good_to_bad", settings.loss.good_to_bad},
                                {"bad_to_good", settings.loss.bad_to_good},
                                {"in_bad", settings.loss.in_bad}}},
          {"outages", std::move(outages)},
          {"outages_repeat_ms",
           settings.outages.repeat > kZero ? ms(settings.outages.repeat) : nullptr}};
}

}  // namespace

std::string to_text(const LinkProfile& profile) {
  auto const& [id, source, down, up] = profile;
  auto const rate = [](const LinkSettings& s) { return s.trace ? "none" : rate_text(s.rate_bps); };
  auto text = rate(down) + "/" + rate(up) + "/" + time_text(profile.rtt());
  if (down.delay - up.delay != profile.rtt() % 2) {
    text += ",down.delay=" + time_text(down.delay) + ",up.delay=" + time_text(up.delay);
  }
  if (down.trace) text += ",down=" + down.trace->name();
  if (up.trace) text += ",up=" + up.trace->name();
  auto const down_keys = keys_of(down);
  auto const up_keys = keys_of(up);
  for (const auto& key : down_keys) {
    bool const same = std::ranges::find(up_keys, key) != up_keys.end();
    text += (same ? "," : ",down.") + key.first + "=" + key.second;
  }
  for (const auto& key : up_keys) {
    bool const same = std::ranges::find(down_keys, key) != down_keys.end();
    if (!same) text += ",up." + key.first + "=" + key.second;
  }
  return text;
}

json::object to_json(const LinkProfile& profile) {
  return {{"link", profile.id},
          {"source", profile.source},
          {"text", to_text(profile)},
          {"rtt_ms", ms(profile.rtt())},
          {"down", direction_json(profile.down)},
          {"up", direction_json(profile.up)}};
}

json::object to_json(const LinkCounters& counters) {
  return {{"packets_in", counters.packets_in},
          {"bytes_in", counters.bytes_in},
          {"packets_out", counters.packets_out},
          {"bytes_out", counters.bytes_out},
          {"lost", counters.lost},
          {"outage_drops", counters.outage_drops},
          {"queue_drops", counters.queue_drops},
          {"aqm_drops", counters.aqm_drops},
          {"queued", counters.queued_packets},
          {"in_flight", counters.in_flight}};
}

}  // namespace reprise
