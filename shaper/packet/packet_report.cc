#include "shaper/packet/packet_report.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <cmath>
#include <cstdio>
#include <map>
#include <utility>

#include "base/text/counted.h"
#include "shaper/description.h"

namespace reprise {
namespace {

namespace json = boost::json;

template <class T>
json::value or_null(const std::optional<T>& value) {
  return value ? json::value(*value) : json::value(nullptr);
}

double to_us(std::chrono::nanoseconds time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

json::object to_json(const DirectionCheck& check) {
  return {
      {"packets_sent", check.packets_sent},          {"packets_come", check.packets_come},
      {"expected_loss", check.expected_loss},        {"expected_bps", or_null(check.expected_bps)},
      {"measured_bps", or_null(check.measured_bps)}, {"expected_ms", or_null(check.expected_ms)},
      {"measured_ms", or_null(check.measured_ms)}};
}

json::value to_json(const SelfCheck& check) {
  if (!check.skipped.empty()) return json::object{{"skipped", check.skipped}};
  json::value rtt = nullptr;
  if (check.down.measured_ms && check.up.measured_ms) {
    rtt = *check.down.measured_ms + *check.up.measured_ms;
  }
  return json::object{{"ok", check.deviations.empty()},
                      {"rtt_ms", rtt},
                      {"down", to_json(check.down)},
                      {"up", to_json(check.up)},
                      {"took_ms", check.took_ms}};
}

json::object to_json(const FarServers::Delays& delays) {
  std::map<std::uint32_t, std::chrono::nanoseconds> const sorted(delays.begin(), delays.end());
  json::object object;
  for (const auto& [address, delay] : sorted) {
    std::array<char, INET_ADDRSTRLEN> text{};
    in_addr const name{.s_addr = htonl(address)};
    ::inet_ntop(AF_INET, &name, text.data(), text.size());
    object[text.data()] = std::chrono::duration<double, std::milli>(delay).count();
  }
  return object;
}

/// In ms, to microseconds.
double short_ms(std::chrono::nanoseconds time) {
  return std::round(to_us(time)) / 1000;
}

json::object to_json(const LatenessCurve& curve) {
  json::array at_ms;
  json::array cost_ms;
  for (const LatenessCurve::Step& step : curve.steps()) {
    at_ms.push_back(short_ms(step.time));
    cost_ms.push_back(short_ms(step.cost));
  }
  return {{"resolution_ms", to_ms(curve.resolution())},
          {"at_ms", std::move(at_ms)},
          {"cost_ms", std::move(cost_ms)}};
}

using Span = LinkTimeline::Span;

bool is_busy(const Span& span) {
  return span.packets > 0 || span.drops > 0 || span.queue_bytes >= 1 || span.rate_bps >= 1;
}

/// Where the first busy span is, and the end of the last one; equal if no span is busy.
std::pair<std::size_t, std::size_t> busy_part(const LinkTimelines& timelines) {
  auto const size = std::max(timelines.down.spans.size(), timelines.up.spans.size());
  std::size_t first = size;
  std::size_t end = 0;
  for (auto const* line : {&timelines.down, &timelines.up}) {
    for (std::size_t i = 0; i < line->spans.size(); ++i) {
      if (!is_busy(line->spans[i])) continue;
      first = std::min(first, i);
      end = std::max(end, i + 1);
    }
  }
  return {std::min(first, end), end};
}

json::object spans_json(const LinkTimeline& line, std::size_t first, std::size_t end) {
  json::array queue;
  json::array rate;
  json::array packets;
  json::array delay;
  json::array drops;
  for (std::size_t i = first; i < end; ++i) {
    auto const span = i < line.spans.size() ? line.spans[i] : Span{};
    queue.push_back(std::llround(span.queue_bytes));
    rate.push_back(std::llround(span.rate_bps));
    packets.push_back(span.packets);
    delay.push_back(std::round(span.delay_mean_ms * 100) / 100);
    drops.push_back(span.drops);
  }
  return {{"queue_bytes", std::move(queue)},
          {"rate_bps", std::move(rate)},
          {"packets", std::move(packets)},
          {"delay_mean_ms", std::move(delay)},
          {"drops", std::move(drops)}};
}

/// Warnings but for lateness, which those judge who know what was exchanged over the link.
std::vector<std::string> settings_warnings(const PacketRun& run) {
  auto warnings = texts_of(run.self_check.deviations);
  if (auto const lost = run.link.outside.total(); lost > 0) {
    warnings.push_back(counted(lost, "packet was", "packets were") + " lost outside the link");
  }
  return warnings;
}

}  // namespace

json::value to_json(const LinkTimelines& timelines) {
  auto const [first, end] = busy_part(timelines);
  if (first == end) return {};
  auto const width_ms = std::chrono::duration<double, std::milli>(timelines.down.width).count();
  return json::object{{"width_ms", width_ms},
                      {"start_ms", width_ms * static_cast<double>(first)},
                      {"down", spans_json(timelines.down, first, end)},
                      {"up", spans_json(timelines.up, first, end)}};
}

std::vector<std::string> warnings_of(const PacketRun& run) {
  auto warnings = settings_warnings(run);
  if (run.link.lateness_cost <= tolerated_lateness(run.link.span)) return warnings;
  char text[160];
  std::snprintf(text, sizeof text,
                "late packets can have cost up to %.1f ms in %.0f ms: this machine is too busy",
                to_ms(run.link.lateness_cost), to_ms(run.link.span));
  warnings.emplace_back(text);
  return warnings;
}

json::object to_json(const PacketRun& run) {
  auto const& lateness = run.link.lateness;
  auto const& outside = run.link.outside;
  return {{"shaper", "packet"},
          {"device", "veth"},
          {"approximate", false},
          {"link", to_json(run.profile)},
          {"link_text", to_text(run.profile)},
          {"link_seed", run.seed},
          {"congestion", run.congestion},
          {"priority", to_string(run.link.priority)},
          {"priority_lowered", run.link.times_lowered},
          {"processor_ms", to_ms(run.link.processor_time)},
          {"keep_awake", run.keep_awake},
          {"origin_rtt_ms", to_json(run.far_servers)},
          {"self_check", to_json(run.self_check)},
          {"lateness",
           {{"packets", lateness.packets},
            {"p50_us", to_us(lateness.p50)},
            {"p99_us", to_us(lateness.p99)},
            {"max_us", to_us(lateness.max)},
            {"cost_ms", to_ms(run.link.lateness_cost)},
            {"growth", to_json(run.link.lateness_curve)},
            {"span_ms", to_ms(run.link.span)}}},
          {"outside_drops",
           {{"ring", outside.ring},
            {"send", outside.send},
            {"memory", outside.memory},
            {"malformed", outside.malformed},
            {"devices", outside.devices}}},
          {"down", to_json(run.link.down)},
          {"up", to_json(run.link.up)},
          {"doubts", json::value_from(settings_warnings(run))},
          {"deviations", measured_deviations(run.self_check.deviations)},
          {"warnings", json::value_from(warnings_of(run))},
          {"timeline", run.timelines ? to_json(*run.timelines) : json::value()}};
}

}  // namespace reprise
