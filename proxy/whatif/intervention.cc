#include "proxy/whatif/intervention.h"

#include <array>
#include <charconv>
#include <utility>

#include "archive/think_time.h"
#include "base/system/text_file.h"
#include "base/text/white_space.h"

namespace reprise::whatif {
namespace {

using Parsed = std::expected<Action, std::string>;

constexpr std::string_view kActions =
    "think=TIME|xF|FILE, rtt=+TIME, dns=+TIME, drop, status=CODE, body=FILE, "
    "compress=br|zstd|gzip|off, "
    "protocol=h1|h2|h3, coalesce, cache=AGE, bytes=xF, preload, preconnect, priority=high|low, "
    "async, defer, lazy, inline, early-hints";

std::unexpected<std::string> wrong(std::string text) {
  return std::unexpected(std::move(text));
}

/// The milliseconds in a file: numbers apart by white space or commas, in brackets or not.
std::expected<std::vector<std::chrono::nanoseconds>, std::string> read_draws(
    const std::string& path) {
  auto const text = read_text_file(path, kBodyBytesMax);
  if (!text) {
    return wrong("think= needs a time such as 0, +30ms or x0.5, or a file of milliseconds: " +
                 path + ": " + text.error().message());
  }
  std::vector<std::chrono::nanoseconds> draws;
  std::string_view rest = *text;
  while (true) {
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t\r\n,[]"), rest.size()));
    if (rest.empty()) break;
    auto const word = rest.substr(0, rest.find_first_of(" \t\r\n,[]"));
    auto const time = parse_milliseconds(word);
    if (!time)
      return wrong(path + " has '" + std::string(word.substr(0, 40)) +
                   "', which is not a number of milliseconds");
    if (draws.size() == kDrawsMax) return wrong(path + " has more than a million times");
    draws.push_back(*time);
    rest.remove_prefix(word.size());
  }
  if (draws.empty()) return wrong(path + " has no times");
  return draws;
}

constexpr const char* kChangesNothing = " changes nothing";

/// Whether every think time stays as it is.
bool is_idle(const ThinkTimeChange& change) {
  using enum ThinkTimeChange::Kind;
  if (change.kind == kMultiply) return change.factor == 1;
  return change.kind != kSet && change.by == std::chrono::nanoseconds(0);
}

Parsed parse_think(std::string_view value) {
  if (auto const change = ThinkTimeChange::parse(value)) {
    if (is_idle(*change)) return wrong("think=" + std::string(value) + kChangesNothing);
    return Think{.change = *change};
  }
  auto draws = read_draws(std::string(value));
  if (!draws) return wrong(draws.error());
  return Think{.change = {}, .draws = std::move(*draws)};
}

std::optional<std::chrono::nanoseconds> parse_added(std::string_view value) {
  return value.starts_with('+') ? parse_milliseconds(value.substr(1)) : std::nullopt;
}

Parsed parse_rtt(std::string_view value) {
  auto const by = parse_added(value);
  if (!by) return wrong("rtt needs a time to add, such as rtt=+40ms");
  if (by->count() == 0) return wrong("rtt=" + std::string(value) + kChangesNothing);
  return FurtherAway{*by};
}

Parsed parse_dns(std::string_view value) {
  auto const by = parse_added(value);
  if (!by) return wrong("dns needs a time to add, such as dns=+40ms");
  if (by->count() == 0) return wrong("dns=" + std::string(value) + kChangesNothing);
  return SlowerName{*by};
}

Parsed parse_status(std::string_view value) {
  std::uint16_t code = 0;
  auto const [end, error] = std::from_chars(value.data(), value.data() + value.size(), code);
  bool const number = error == std::errc() && end == value.data() + value.size();
  if (!number || code < 200 || code > 599 || (code >= 300 && code < 400)) {
    return wrong("status needs 200 to 299 or 400 to 599, such as status=503");
  }
  return Status{code};
}

Parsed parse_body(std::string_view value) {
  auto bytes = read_text_file(std::string(value), kBodyBytesMax);
  if (!bytes) return wrong("body=" + std::string(value) + ": " + bytes.error().message());
  return Body{std::move(*bytes)};
}

Parsed parse_compress(std::string_view value) {
  using enum coding::Coding;
  if (value == "br") return Compress{kBrotli};
  if (value == "zstd") return Compress{kZstd};
  if (value == "gzip") return Compress{kGzip};
  if (value == "off") return Compress{};
  return wrong("compress needs br, zstd, gzip or off");
}

Parsed parse_protocol(std::string_view value) {
  if (value == "h1") return Speak{"http/1.1"};
  if (value == "h2") return Speak{"h2"};
  if (value == "h3") return Speak{"h3"};
  return wrong("protocol needs h1, h2 or h3");
}

Parsed parse_cache(std::string_view value) {
  auto const age = parse_age(value);
  if (!age) return wrong("cache needs an age, such as cache=1y, cache=10m, or cache=0");
  return CacheFor{*age};
}

Parsed parse_bytes(std::string_view value) {
  auto const factor = parse_factor(value);
  if (!factor || *factor <= 0 || *factor >= 1) {
    return wrong("bytes needs a factor below 1, such as bytes=x0.5");
  }
  return Resize{*factor};
}

Parsed parse_priority(std::string_view value) {
  if (value == "high") return Mention{Mention::Kind::kPriorityHigh};
  if (value == "low") return Mention{Mention::Kind::kPriorityLow};
  return wrong("priority needs high or low");
}

struct WithValue {
  std::string_view name;
  Parsed (*parse)(std::string_view value);
};
constexpr std::array<WithValue, 10> kWithValue{{{"think", parse_think},
                                                {"rtt", parse_rtt},
                                                {"dns", parse_dns},
                                                {"status", parse_status},
                                                {"body", parse_body},
                                                {"compress", parse_compress},
                                                {"protocol", parse_protocol},
                                                {"cache", parse_cache},
                                                {"bytes", parse_bytes},
                                                {"priority", parse_priority}}};

Parsed parse_action(std::string_view text) {
  using enum Mention::Kind;
  auto const equals = std::min(text.find('='), text.size());
  auto const name = text.substr(0, equals);
  for (const WithValue& each : kWithValue) {
    if (name != each.name) continue;
    if (equals == text.size()) return wrong(std::string(name) + " needs a value");
    auto value = text.substr(equals + 1);
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
      value = value.substr(1, value.size() - 2);
    }
    return each.parse(value);
  }
  if (text == "drop") return Drop{};
  if (text == "coalesce") return Coalesce{};
  constexpr std::array<std::pair<std::string_view, Mention::Kind>, 7> kMentions{
      {{"preload", kPreload},
       {"preconnect", kPreconnect},
       {"async", kAsync},
       {"defer", kDefer},
       {"lazy", kLazy},
       {"inline", kInline},
       {"early-hints", kEarlyHints}}};
  for (auto const& [mention, kind] : kMentions) {
    if (text == mention) return Mention{kind};
  }
  return wrong("unknown action '" + std::string(text) + "'; the actions are " +
               std::string(kActions));
}

/// The place of the last colon that white space follows, outside of quotes.
std::optional<std::size_t> colon_of(std::string_view text) {
  std::optional<std::size_t> colon;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (quoted && text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      quoted = !quoted;
    } else if (!quoted && text[i] == ':' && i + 1 < text.size() && is_white_space(text[i + 1])) {
      colon = i;
    }
  }
  return colon;
}

std::expected<std::vector<std::string>, std::string> lines_of(const std::string& path) {
  auto const text = read_text_file(path, 1 << 20);
  if (!text) return wrong("--what-if @" + path + ": " + text.error().message());
  std::vector<std::string> lines;
  std::string_view rest = *text;
  while (!rest.empty()) {
    auto const line = trim(rest.substr(0, rest.find('\n')));
    if (!line.empty() && !line.starts_with('#')) lines.emplace_back(line);
    rest.remove_prefix(std::min(rest.find('\n'), rest.size() - 1) + 1);
  }
  if (lines.empty()) return wrong("--what-if @" + path + " has no lines FILTER: ACTION");
  return lines;
}

}  // namespace

bool Intervention::is_condition() const {
  return as<Think>() != nullptr || as<FurtherAway>() != nullptr || as<SlowerName>() != nullptr ||
         as<Speak>() != nullptr || as<Coalesce>() != nullptr;
}

std::optional<std::chrono::seconds> parse_age(std::string_view text) {
  constexpr std::int64_t kDay = 86'400;
  std::int64_t count = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  auto const unit = text.substr(static_cast<std::size_t>(end - text.data()));
  std::int64_t seconds = 0;
  if (unit == "s") seconds = 1;
  if (unit == "m") seconds = 60;
  if (unit == "h") seconds = 3600;
  if (unit == "d") seconds = kDay;
  if (unit == "y") seconds = 365 * kDay;
  if (unit.empty() && count == 0) seconds = 1;
  if (error != std::errc() || count < 0 || seconds == 0) return std::nullopt;
  if (count > 100 * 365 * kDay / seconds) return std::nullopt;
  return std::chrono::seconds(count * seconds);
}

std::expected<Intervention, std::string> parse_intervention(std::string_view text) {
  auto const colon = colon_of(text);
  if (!colon) {
    return wrong(
        "--what-if needs 'FILTER: ACTION', such as 'host=cdn.test type=script: defer', "
        "not '" +
        std::string(text) + "'");
  }
  auto const filter_text = trim(text.substr(0, *colon));
  if (filter_text.empty()) {
    return wrong("--what-if '" + std::string(text) +
                 "' has no filter; use * to select every exchange");
  }
  auto filter = Filter::parse(filter_text);
  if (!filter) return wrong("--what-if: " + caret_text(filter_text, filter.error()));
  auto action = parse_action(trim(text.substr(*colon + 1)));
  if (!action) return wrong("--what-if '" + std::string(text) + "': " + action.error());
  return Intervention{
      .text = std::string(text), .filter = std::move(*filter), .action = std::move(*action)};
}

std::expected<std::vector<Intervention>, std::string> parse_interventions(
    const std::vector<std::string>& texts) {
  std::vector<Intervention> all;
  auto const add = [&](const std::string& text) -> std::optional<std::string> {
    if (all.size() == kInterventionsMax) return "--what-if is given more than 10,000 times";
    auto one = parse_intervention(text);
    if (!one) return one.error();
    all.push_back(std::move(*one));
    return std::nullopt;
  };
  for (const std::string& text : texts) {
    if (!text.starts_with('@')) {
      if (auto fault = add(text)) return wrong(std::move(*fault));
      continue;
    }
    auto const lines = lines_of(text.substr(1));
    if (!lines) return wrong(lines.error());
    for (const std::string& line : *lines) {
      if (auto fault = add(line)) return wrong(std::move(*fault));
    }
  }
  return all;
}

}  // namespace reprise::whatif
