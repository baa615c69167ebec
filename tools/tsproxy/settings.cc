#include "tools/tsproxy/settings.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <system_error>

#include "base/text/ascii.h"
#include "base/text/command_words.h"
#include "base/text/white_space.h"
#include "shaper/profile.h"
#include "shaper/units.h"

namespace reprise::tsproxy {
namespace {

std::optional<std::uint16_t> port_in(std::string_view text) {
  std::uint16_t port = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  bool const whole = error == std::errc() && end == text.data() + text.size();
  return whole && port > 0 ? std::optional(port) : std::nullopt;
}

std::string in_lower_case(std::string text) {
  std::ranges::transform(text, text.begin(), to_lower);
  return text;
}

/// A finite number from 0 on. Callers compute rates and write all digits, or an exponent.
std::optional<double> number_in(std::string_view text) {
  double number = 0;
  auto const* const end = text.data() + text.size();
  auto const [stopped, error] = std::from_chars(text.data(), end, number);
  bool const whole = error == std::errc() && stopped == end;
  return whole && std::isfinite(number) && number >= 0 ? std::optional(number) : std::nullopt;
}

/// The number in a unit that is smaller by `factor`, rounded; 0 without a number.
std::int64_t rounded(std::string_view text, double factor) {
  constexpr double kAboveAllLimits = 9e17;
  return std::llround(std::min(number_in(text).value_or(0) * factor, kAboveAllLimits));
}

/// ",down=5mbit"; empty without a limit. A rate that rounds to 0 is a limit all the same.
std::string rate_setting(const char* name, const std::string& kbps) {
  if (number_in(kbps).value_or(0) <= 0) return "";
  auto const rate_bps = static_cast<std::uint64_t>(std::max<std::int64_t>(rounded(kbps, 1e3), 1));
  return std::string(",") + name + "=" + rate_text(rate_bps);
}

/// The place of the number with this name; null for another name.
std::string* number_of(Settings& settings, std::string_view name) {
  if (name == "rtt") return &settings.rtt;
  if (name == "inkbps") return &settings.inkbps;
  return name == "outkbps" ? &settings.outkbps : nullptr;
}

std::expected<void, std::string> set(const std::string& name, const std::string& value,
                                     Settings& settings) {
  if (std::string* const number = number_of(settings, name)) {
    *number = value;
    return check_link(settings);
  }
  if (name != "mapports") return std::unexpected("there is no setting '" + name + "'");
  auto ports = PortMap::parse(value);
  if (!ports) return std::unexpected(ports.error());
  settings.ports = std::move(*ports);
  return {};
}

std::expected<void, std::string> reset(const std::string& name, Settings& settings) {
  bool const all = name == "all";
  bool known = all || name == "mapports";
  if (known) settings.ports = PortMap();
  for (const char* const each : {"rtt", "inkbps", "outkbps"}) {
    if (!all && name != each) continue;
    *number_of(settings, each) = "0";
    known = true;
  }
  if (known) return {};
  return std::unexpected("there is no setting '" + name + "'");
}

}  // namespace

std::expected<PortMap, std::string> PortMap::parse(std::string_view text) {
  PortMap map;
  while (!text.empty()) {
    auto const comma = text.find(',');
    auto const rule = trim_blanks(text.substr(0, comma));
    text = comma == std::string_view::npos ? "" : text.substr(comma + 1);
    auto const colon = rule.find(':');
    auto const from = rule.substr(0, colon);
    auto const to =
        colon == std::string_view::npos ? std::nullopt : port_in(rule.substr(colon + 1));
    auto const known = port_in(from);
    if (!to || (!known && from != "*")) {
      return std::unexpected("ports must be mapped as 443:8443,*:8080, not '" + std::string(rule) +
                             "'");
    }
    map.rules_.push_back({.from = known, .to = *to});
  }
  return map;
}

std::uint16_t PortMap::of(std::uint16_t asked) const {
  for (auto const& wanted : {std::optional(asked), std::optional<std::uint16_t>()}) {
    auto const found = std::ranges::find(rules_, wanted, &Rule::from);
    if (found != rules_.end()) return found->to;
  }
  return asked;
}

std::string Settings::link() const {
  std::string text;
  std::chrono::nanoseconds const round_trip(rounded(rtt, 1e6));
  if (round_trip.count() > 0) text += ",rtt=" + time_text(round_trip);
  text += rate_setting("down", inkbps) + rate_setting("up", outkbps);
  return text.empty() ? "" : "none" + text;
}

std::expected<void, std::string> check_link(const Settings& settings) {
  for (const std::string* const number : {&settings.rtt, &settings.inkbps, &settings.outkbps}) {
    if (!number_in(*number)) {
      return std::unexpected("'" + *number + "' is not a number");
    }
  }
  auto const link = settings.link();
  if (link.empty()) return {};
  auto const parsed = parse_link(link);
  if (!parsed) return std::unexpected(parsed.error());
  return {};
}

std::expected<Command, std::string> run_command(std::string_view line, Settings& settings) {
  auto words = command_words(trim(line));
  if (!words) return std::unexpected(words.error());
  if (words->empty()) return Command::kNone;
  for (std::size_t i = 0; i < std::min<std::size_t>(words->size(), 2); ++i) {
    (*words)[i] = in_lower_case((*words)[i]);
  }
  auto const& verb = words->front();
  if (verb == "flush") return Command::kFlush;
  if (verb == "exit") return Command::kExit;
  auto changed = settings;
  std::expected<void, std::string> done = std::unexpected("unknown command '" + verb + "'");
  if (verb == "set" && words->size() >= 3) done = set((*words)[1], (*words)[2], changed);
  if (verb == "reset" && words->size() >= 2) done = reset((*words)[1], changed);
  if (!done) return std::unexpected(done.error());
  settings = std::move(changed);
  return Command::kSet;
}

}  // namespace reprise::tsproxy
