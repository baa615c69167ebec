#include "shaper/stream/stream_run.h"

#include <boost/json.hpp>
#include <cstdio>

#include "shaper/description.h"

namespace reprise {
namespace {

namespace json = boost::json;

double to_us(std::chrono::nanoseconds time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

json::object to_json(const TimeCheck& time) {
  return {{"expected_ms", time.expected_ms}, {"measured_ms", time.measured_ms}};
}

json::value to_json(const std::optional<TimeCheck>& time) {
  return time ? json::value(to_json(*time)) : json::value(nullptr);
}

json::value to_json(const StreamCheck& check) {
  if (!check.skipped.empty()) return json::object{{"skipped", check.skipped}};
  return json::object{
      {"ok", check.deviations.empty()},          {"connected", to_json(check.connected)},
      {"round_trip", to_json(check.round_trip)}, {"transfer", to_json(check.transfer)},
      {"transfer_bytes", check.transfer_bytes},  {"took_ms", check.took_ms}};
}

}  // namespace

std::vector<std::string> warnings_of(const StreamRun& run) {
  auto warnings = texts_of(run.self_check.deviations);
  if (auto const late = run.link.lateness.p99; late > kLatenessMax) {
    char text[128];
    std::snprintf(text, sizeof text,
                  "one event in 100 was %.1f ms late or more: this machine is too busy",
                  to_us(late) / 1e3);
    warnings.emplace_back(text);
  }
  return warnings;
}

json::object to_json(const StreamRun& run) {
  auto const warnings = json::value_from(warnings_of(run));
  auto const& lateness = run.link.lateness;
  return {{"shaper", "stream"},
          {"approximate", true},
          {"instead_of_packet",
           run.instead_of.empty() ? json::value(nullptr) : json::value(run.instead_of)},
          {"link", to_json(run.profile)},
          {"link_text", to_text(run.profile)},
          {"link_seed", run.seed},
          {"congestion", "cubic"},
          {"self_check", to_json(run.self_check)},
          {"lateness",
           {{"events", lateness.packets},
            {"p50_us", to_us(lateness.p50)},
            {"p99_us", to_us(lateness.p99)},
            {"max_us", to_us(lateness.max)}}},
          {"connections", run.link.connections},
          {"given_up", run.link.broken},
          {"names_asked", run.link.questions},
          {"down", to_json(run.link.down)},
          {"up", to_json(run.link.up)},
          {"doubts", warnings},
          {"deviations", measured_deviations(run.self_check.deviations)},
          {"warnings", warnings}};
}

}  // namespace reprise
