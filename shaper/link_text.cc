#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <utility>
#include <vector>

#include "shaper/profile.h"
#include "shaper/trace.h"
#include "shaper/units.h"

namespace reprise {

using std::chrono::nanoseconds;

namespace {

constexpr std::size_t kTextMax = 4096;
constexpr std::size_t kShownMax = 60;
constexpr const char* kTooLong = "it is longer than 4096 bytes";
constexpr const char* kTraceSource = "trace file";

/// The error, or nothing.
using Error = std::optional<std::string>;

/// A direction during parsing. A queue in time needs the rate, which may come later.
struct Draft {
  LinkSettings settings;
  std::optional<Amount> queue;
};

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    auto const end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string quoted(std::string_view text) {
  return "'" + std::string(text.substr(0, kShownMax)) + "'";
}

/// Stores a parsed value, or returns the error.
template <class T, class To>
Error store(std::expected<T, std::string> parsed, To& to) {
  if (!parsed) return std::move(parsed.error());
  to = std::move(*parsed);
  return std::nullopt;
}

Error read_rate_or_trace(LinkSettings& to, std::string_view value,
                         const std::filesystem::path& folder) {
  auto rate = parse_rate(value);
  auto const path = folder / value;
  std::error_code error;
  if (rate || (!std::filesystem::exists(path, error) && !value.empty() && value[0] >= '0' &&
               value[0] <= '9')) {
    to.trace = nullptr;
    return store(std::move(rate), to.rate_bps);
  }
  to.rate_bps = 0;
  return store(Trace::load(path), to.trace);
}

/// Random loss alone: it replaces any model given before.
Error read_loss(LossModel& to, std::string_view value) {
  LossModel model;
  if (auto error = store(parse_share(value), model.in_good)) return error;
  to = model;
  return std::nullopt;
}

Error read_gilbert_elliott(LossModel& to, std::string_view value) {
  auto const parts = split(value, '/');
  if (parts.size() < 2 || parts.size() > 4) return quoted(value) + " is not P/R[/1-H[/1-K]]";
  LossModel model;
  std::array<double*, 4> const fields{&model.good_to_bad, &model.bad_to_good, &model.in_bad,
                                      &model.in_good};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (auto error = store(parse_share(parts[i]), *fields[i])) return error;
  }
  to = model;
  return std::nullopt;
}

Error read_outages(Outages& to, std::string_view value) {
  Outages outages;
  bool const repeats = value.find('/') != std::string_view::npos;
  for (auto const part : split(value, '+')) {
    auto const ends = split(part, repeats ? '/' : '-');
    if (ends.size() != 2) return quoted(part) + " is neither FROM-TO nor ON/OFF";
    Outages::Interval interval{};
    for (std::size_t i = 0; i < 2; ++i) {
      if (auto error =
              store(parse_time(ends[i], kOutageTimeMax), i == 0 ? interval.from : interval.to)) {
        return error;
      }
    }
    if (repeats) outages.repeat = interval.to += interval.from;
    outages.off.push_back(interval);
  }
  if (repeats && outages.off.size() > 1)
    return quoted(value) + ": ON/OFF cannot be combined with other outages";
  to = std::move(outages);
  return std::nullopt;
}

Error read_discipline(QueueDiscipline& to, std::string_view value) {
  constexpr std::array<std::pair<std::string_view, QueueDiscipline>, 3> kNames{
      {{"droptail", QueueDiscipline::drop_tail},
       {"codel", QueueDiscipline::codel},
       {"pie", QueueDiscipline::pie}}};
  for (const auto& [name, discipline] : kNames) {
    if (value != name) continue;
    to = discipline;
    return std::nullopt;
  }
  return quoted(value) + " is not droptail, codel or pie";
}

Error read_burst(std::uint32_t& to, std::string_view value) {
  auto const amount = parse_amount(value);
  if (!amount) return amount.error();
  if (amount->kind != Amount::Kind::bytes || amount->value > kBurstBytesMax) {
    return quoted(value) + " is not a number of bytes up to 1 GiB, such as 15kb";
  }
  to = static_cast<std::uint32_t>(amount->value);
  return std::nullopt;
}

/// A time of active queue management. LinkSettings writes 0 for the default one.
Error read_queue_time(nanoseconds& to, std::string_view value) {
  auto const time = parse_time(value, kDelayMax);
  if (!time) return time.error();
  if (*time == nanoseconds(0)) return quoted(value) + " must be above 0";
  to = *time;
  return std::nullopt;
}

Error read_reorder(bool& to, std::string_view value) {
  if (value != "yes" && value != "no") return quoted(value) + " is neither yes nor no";
  to = value == "yes";
  return std::nullopt;
}

/// A key that applies to either direction, or to both.
Error read_key(Draft& to, std::string_view key, std::string_view value) {
  LinkSettings& settings = to.settings;
  if (key == "delay") return store(parse_time(value, kDelayMax), settings.delay);
  if (key == "jitter") return store(parse_time(value, kDelayMax), settings.jitter);
  if (key == "reorder") return read_reorder(settings.reorder, value);
  if (key == "burst") return read_burst(settings.burst_bytes, value);
  if (key == "queue") return store(parse_amount(value), to.queue);
  if (key == "aqm") return read_discipline(settings.active_queue.discipline, value);
  if (key == "target") return read_queue_time(settings.active_queue.target, value);
  if (key == "interval") return read_queue_time(settings.active_queue.interval, value);
  if (key == "loss") return read_loss(settings.loss, value);
  if (key == "ge") return read_gilbert_elliott(settings.loss, value);
  if (key == "outage") return read_outages(settings.outages, value);
  return "is not a key; the keys are down, up, rtt, delay, jitter, reorder, burst, queue, aqm, "
         "target, interval, loss, ge and outage; all but the first three can follow down. or up.";
}

/// Sets the default limit of a queue without one, and the bytes of one in time.
Error settle_queue(Draft& draft, nanoseconds rtt) {
  LinkSettings& settings = draft.settings;
  auto const rate = mean_rate_bps(settings);
  if (!draft.queue) {
    settings.queue = {.packets = default_queue_packets(rate, rtt)};
    return std::nullopt;
  }
  auto bytes = draft.queue->value;
  if (draft.queue->kind == Amount::Kind::packets) {
    settings.queue = {.packets = static_cast<std::uint32_t>(bytes)};
    return std::nullopt;
  }
  if (draft.queue->kind == Amount::Kind::time_ns) {
    if (rate == 0) return "a queue given as a time needs a rate";
    using Wide = unsigned __int128;
    auto const exact = Wide{rate} * bytes / 8'000'000'000;
    bytes = static_cast<std::uint64_t>(std::clamp(exact, Wide{kMtuBytes}, Wide{kQueueBytesMax}));
  }
  settings.queue = {.packets = 0, .bytes = bytes};
  return std::nullopt;
}

/// The first key that has no effect in a direction. `other` is the other direction.
Error find_idle_key(const LinkSettings& settings, const std::string& other) {
  auto const idle = [&](const std::string& key, const char* needs) {
    return key + " has no effect without " + needs + ": add that, remove " + key + ", or set " +
           other + "." + key + " alone";
  };
  auto const& queue = settings.active_queue;
  bool const is_managed = queue.discipline != QueueDiscipline::drop_tail;
  if (settings.reorder && settings.jitter == nanoseconds(0)) return idle("reorder", "jitter");
  if (settings.burst_bytes > 0 && settings.rate_bps == 0) {
    return idle("burst", "a rate (a trace is not one)");
  }
  if (is_managed && mean_rate_bps(settings) == 0) return idle("aqm", "a rate or a trace");
  if (!is_managed && queue.target > nanoseconds(0)) return idle("target", "aqm=codel or aqm=pie");
  if (!is_managed && queue.interval > nanoseconds(0)) {
    return idle("interval", "aqm=codel or aqm=pie");
  }
  return std::nullopt;
}

/// The known profiles with names similar to `text`.
std::string near(std::string_view text) {
  std::string ids;
  auto const space = text.substr(0, text.find(':'));
  for (const LinkProfile& profile : known_profiles()) {
    auto const parts = split(profile.id, ':');
    if (parts[0] == space || parts[1] == text) ids += (ids.empty() ? "" : ", ") + profile.id;
  }
  return ids.empty() ? "`reprise profiles` lists the names" : "similar names: " + ids;
}

Error read_numbers(LinkProfile& profile, Draft& down, Draft& up, std::string_view head) {
  auto const parts = split(head, '/');
  if (parts.size() < 3 || parts.size() > 4) {
    return quoted(head) + " is not DOWN/UP/RTT[/LOSS], such as 9000/9000/170/1%";
  }
  LinkSettings to_client;
  LinkSettings to_server;
  nanoseconds rtt{0};
  if (auto error = store(parse_rate(parts[0]), to_client.rate_bps)) return error;
  if (auto error = store(parse_rate(parts[1]), to_server.rate_bps)) return error;
  if (auto error = store(parse_time(parts[2], kDelayMax), rtt)) return error;
  to_client.delay = rtt - rtt / 2;
  to_server.delay = rtt / 2;
  if (parts.size() == 4) {
    if (auto error = store(parse_share(parts[3]), to_client.loss.in_good)) return error;
    to_server.loss = to_client.loss;
  }
  profile.source = "given in numbers";
  down.settings = std::move(to_client);
  up.settings = std::move(to_server);
  return std::nullopt;
}

Error read_head(LinkProfile& profile, Draft& down, Draft& up, std::string_view head,
                const std::filesystem::path& folder) {
  for (const LinkProfile& known : known_profiles()) {
    if (known.id != head) continue;
    profile.source = known.source;
    down.settings = known.down;
    up.settings = known.up;
    return std::nullopt;
  }
  if (head == "none") {
    profile.source = "no limit";
    return std::nullopt;
  }
  bool const numbers =
      head.starts_with("none/") || (!head.empty() && head[0] >= '0' && head[0] <= '9');
  auto const path = folder / head;
  std::error_code error;
  if (numbers && head.find('/') != std::string_view::npos) {
    auto wrong = read_numbers(profile, down, up, head);
    // A path can begin with a number, too.
    if (!wrong || !std::filesystem::is_regular_file(path, error)) return wrong;
  }
  if (!std::filesystem::exists(path, error)) {
    return quoted(head) + " is neither a known profile nor a file; " + near(head);
  }
  profile.source = kTraceSource;
  if (auto wrong = store(Trace::load(path), down.settings.trace)) return wrong;
  up.settings.trace = down.settings.trace;
  return std::nullopt;
}

Error read_extra(Draft& down, Draft& up, std::string_view key, std::string_view value,
                 const std::filesystem::path& folder) {
  if (key == "down") return read_rate_or_trace(down.settings, value, folder);
  if (key == "up") return read_rate_or_trace(up.settings, value, folder);
  if (key == "rtt") {
    nanoseconds rtt{0};
    if (auto error = store(parse_time(value, kDelayMax), rtt)) return error;
    down.settings.delay = rtt - rtt / 2;
    up.settings.delay = rtt / 2;
    return std::nullopt;
  }
  if (key.starts_with("down.")) return read_key(down, key.substr(5), value);
  if (key.starts_with("up.")) return read_key(up, key.substr(3), value);
  if (auto error = read_key(down, key, value)) return error;
  return read_key(up, key, value);
}

/// Trace files with relative paths are in `folder`; empty: in the working directory.
Error read_all(LinkProfile& profile, std::string_view text, const std::filesystem::path& folder) {
  if (text.size() > kTextMax) return kTooLong;
  if (text.find('\0') != std::string_view::npos) return "it contains a zero byte";
  auto const parts = split(text, ',');
  Draft down;
  Draft up;
  if (auto error = read_head(profile, down, up, parts[0], folder)) return error;
  std::set<std::string_view> seen;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    auto const equals = parts[i].find('=');
    if (equals == std::string_view::npos) return quoted(parts[i]) + " is not KEY=VALUE";
    auto const key = parts[i].substr(0, equals);
    if (!seen.insert(key).second) return quoted(key) + " is given twice";
    auto error = read_extra(down, up, key, parts[i].substr(equals + 1), folder);
    if (error) return quoted(key) + ": " + *error;
  }
  auto const rtt = down.settings.delay + up.settings.delay;
  if (rtt > kDelayMax) return "the round trip is above 1 hour";
  for (auto* const draft : {&down, &up}) {
    auto error = settle_queue(*draft, rtt);
    if (!error) error = defect_of(draft->settings);
    if (!error) error = find_idle_key(draft->settings, draft == &down ? "up" : "down");
    if (error) return std::string(draft == &down ? "down: " : "up: ") + *error;
  }
  profile.down = std::move(down.settings);
  profile.up = std::move(up.settings);
  return std::nullopt;
}

std::unexpected<std::string> wrong_link(std::string_view text, const std::string& why) {
  return std::unexpected("link " + quoted(text) + ": " + why);
}

}  // namespace

std::uint32_t default_queue_packets(std::uint64_t rate_bps, nanoseconds rtt) {
  using Wide = unsigned __int128;
  constexpr Wide kPacket = Wide{8'000'000'000} * kMtuBytes;
  Wide const packets =
      (Wide{rate_bps} * static_cast<std::uint64_t>(rtt.count()) + kPacket - 1) / kPacket;
  return static_cast<std::uint32_t>(
      std::clamp(packets, Wide{kQueuePacketsDefault}, Wide{kQueuePacketsMax}));
}

std::expected<LinkProfile, std::string> parse_link(std::string_view text) {
  LinkProfile profile{.id = std::string(text)};
  if (auto error = read_all(profile, text, {})) return wrong_link(text, *error);
  return profile;
}

std::expected<std::string, std::string> absolute_link(std::string_view text,
                                                      const std::filesystem::path& folder) {
  LinkProfile profile;
  if (auto error = read_all(profile, text, folder)) return wrong_link(text, *error);
  auto const parts = split(text, ',');
  std::string out;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    auto const key = i == 0 ? std::string_view() : parts[i].substr(0, parts[i].find('=') + 1);
    auto const value = parts[i].substr(key.size());
    bool const is_trace = (i == 0 && profile.source == kTraceSource) ||
                          (key == "down=" && profile.down.trace) ||
                          (key == "up=" && profile.up.trace);
    auto const whole = is_trace ? (folder / value).string() : std::string(value);
    if (whole.find(',') != std::string::npos) {
      return wrong_link(text, "the path of its trace file, " + whole + ", contains a comma");
    }
    out += (i == 0 ? "" : ",") + std::string(key) + whole;
  }
  if (out.size() > kTextMax)
    return wrong_link(text, "with absolute paths " + std::string(kTooLong));
  return out;
}

}  // namespace reprise
