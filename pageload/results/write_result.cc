#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <utility>

#include "base/system/private_file.h"
#include "base/text/printable.h"
#include "pageload/results/metric.h"
#include "pageload/results/result_file.h"

namespace json = boost::json;

namespace reprise {
namespace {

/// Null if it is empty.
json::value text_or_null(std::string_view text) {
  return text.empty() ? json::value() : json::value(as_utf8(text));
}

json::value text_or_null(const std::optional<std::string>& text) {
  return text ? json::value(as_utf8(*text)) : json::value();
}

json::value time_json(double ms) {
  return ms < 0 ? json::value() : json::value(ms);
}

json::value metric_json(Metric::Unit unit, std::optional<double> value) {
  if (!value) return {};
  bool const whole = unit == Metric::Unit::kCount || unit == Metric::Unit::kBytes;
  return whole ? json::value(static_cast<std::int64_t>(*value)) : json::value(*value);
}

json::array texts_json(const std::vector<std::string>& texts) {
  json::array out;
  for (const std::string& text : texts) out.emplace_back(as_utf8(text));
  return out;
}

json::object request_json(const PageRequest& request) {
  json::object out;
  out["url"] = as_utf8(request.url);
  out["method"] = as_utf8(request.method);
  out["resource_type"] = as_utf8(request.resource_type);
  out["status"] = request.status;
  out["protocol"] = as_utf8(request.protocol);
  out["remote_address"] = as_utf8(request.remote_address);
  out["mime_type"] = as_utf8(request.mime_type);
  out["failure"] = as_utf8(request.failure);
  out["from_cache"] = request.from_cache;
  out["encoded_bytes"] = request.encoded_bytes;
  out["decoded_bytes"] = request.decoded_bytes;
  out["connection"] = request.connection < 0 ? json::value() : json::value(request.connection);
  out["initiator"] = as_utf8(request.initiator);
  out["priority"] = as_utf8(request.priority);
  out["body_sha256"] = text_or_null(request.body_sha256);
  out["request_body_sha256"] = text_or_null(std::string_view(request.request_body_sha256));
  out["start_ms"] = time_json(request.start_ms);
  out["response_ms"] = time_json(request.response_ms);
  out["end_ms"] = time_json(request.end_ms);
  json::value& timing = out["timing"];
  if (!request.timing) return out;
  auto& times = timing.emplace_object();
  for (auto const& time : kRequestTimes) times[time.name] = time_json(*request.timing.*time.at_ms);
  return out;
}

json::value number_or_null(const std::optional<double>& number) {
  return number ? json::value(*number) : json::value();
}

json::object activity_json(const MachineActivity& machine) {
  return {{"span_ms", machine.span_ms},
          {"processors", machine.processors},
          {"busy_ms", machine.busy_ms},
          {"own_ms", machine.own_ms},
          {"own_nice", machine.own_nice},
          {"own_waiting_ms", machine.own_waiting_ms},
          {"own_major_faults", machine.own_major_faults},
          {"stopped", machine.stopped},
          {"paused_ms", machine.paused_ms},
          {"steal_ms", number_or_null(machine.steal_ms)},
          {"throttled_ms", number_or_null(machine.throttled_ms)},
          {"cpu_pressure_ms", number_or_null(machine.cpu_pressure_ms)},
          {"io_pressure_ms", number_or_null(machine.io_pressure_ms)},
          {"memory_pressure_ms", number_or_null(machine.memory_pressure_ms)},
          {"frequency_mhz", number_or_null(machine.frequency_mhz)},
          {"suspended_ms", machine.suspended_ms},
          {"clock_step_ms", machine.clock_step_ms},
          {"began_ms", machine.began_ms},
          {"group_ms", number_or_null(machine.group_ms)},
          {"quota", number_or_null(machine.quota)},
          {"quota_ms", number_or_null(machine.quota_ms)}};
}

json::object page_json(const PageLoad& page) {
  json::array requests;
  for (const PageRequest& request : page.requests) requests.push_back(request_json(request));
  json::object out;
  out["url"] = as_utf8(page.url);
  out["outcome"] = to_string(page.outcome);
  out["failure"] = as_utf8(page.failure);
  out["started_unix_ms"] = page.started_unix_ms;
  out["final_url"] = as_utf8(page.final_url);
  for (const Metric& metric : kMetrics) {
    out[metric.field] = metric_json(metric.unit, page.*metric.value);
  }
  out["largest_contentful_paint_url"] = text_or_null(page.largest_contentful_paint_url);
  out["dom_sha256"] = text_or_null(page.dom_sha256);
  if (page.dom) out["dom"] = as_utf8(*page.dom);
  out["requests"] = std::move(requests);
  out["requests_not_kept"] = page.requests_not_kept;
  out["console_errors"] = texts_json(page.console_errors);
  out["remarks"] = texts_json(page.remarks);
  if (page.browser_requests) out["browser_requests"] = texts_json(*page.browser_requests);
  if (!page.trace.empty()) out["trace"] = as_utf8(page.trace);
  if (page.lateness_ms) out["lateness_ms"] = *page.lateness_ms;
  out["machine"] = page.machine ? json::value(activity_json(*page.machine)) : json::value();
  return out;
}

json::object load_json(const LoadResult::Load& load) {
  json::object out = page_json(load.page);
  out["run"] = load.run;
  out["configuration"] = to_json(load.configuration);
  out["order"] = load.order;
  out["warm_up"] = load.warm_up;
  if (!load.skipped.empty()) out["skipped"] = as_utf8(load.skipped);
  if (!load.disturbed.empty()) out["disturbed"] = as_utf8(load.disturbed);
  if (!load.node.empty()) out["node"] = as_utf8(load.node);
  out["replay"] = load.replay ? json::value(*load.replay) : json::value();
  return out;
}

json::object replay_json(const ReplayRun& replay) {
  return {{"run", replay.run},
          {"exit_code", replay.exit_code},
          {"report", replay.report ? json::value(replay.report->whole) : json::value()}};
}

json::object machine_json(const Machine& machine) {
  return {{"cpu", as_utf8(machine.cpu)},
          {"cores", machine.cores},
          {"kernel", as_utf8(machine.kernel)},
          {"memory_bytes", machine.memory_bytes}};
}

json::object browser_json(const LoadResult::Browser& browser) {
  return {{"name", as_utf8(browser.name)},
          {"version", as_utf8(browser.version)},
          {"flags", texts_json(browser.flags)}};
}

json::object settings_json(const LoadSettings& settings) {
  json::object out{{"timeout_ms", settings.timeout.count()},
                   {"quiet_ms", settings.quiet.count()},
                   {"settle_ms", settings.settle.count()},
                   {"width", settings.width},
                   {"height", settings.height},
                   {"cpu_throttle", settings.cpu_throttle}};
  if (!settings.device.empty()) out["device"] = as_utf8(settings.device);
  if (!settings.steps.empty()) out["steps"] = texts_json(settings.steps);
  if (settings.replay_options) out["replay_options"] = texts_json(*settings.replay_options);
  return out;
}

json::array what_ifs_json(const std::vector<WhatIfMade>& what_ifs) {
  json::array all;
  for (const WhatIfMade& each : what_ifs) {
    json::array places;
    for (auto const& [where, what] : each.places) {
      places.push_back({{"where", as_utf8(where)}, {"what", as_utf8(what)}});
    }
    all.push_back({{"text", as_utf8(each.text)},
                   {"selected", each.selected},
                   {"changed", each.changed},
                   {"places", std::move(places)},
                   {"remarks", texts_json(each.remarks)}});
  }
  return all;
}

}  // namespace

json::object to_json(const LoadConfiguration& configuration) {
  return {{"browser", as_utf8(configuration.browser)},
          {"protocol", as_utf8(configuration.protocol)},
          {"link", as_utf8(configuration.link)},
          {"cache", as_utf8(configuration.cache)}};
}

json::object to_json(const LoadResult& result) {
  json::array browsers;
  for (const LoadResult::Browser& each : result.browsers) browsers.push_back(browser_json(each));
  auto const first = result.browsers.empty() ? LoadResult::Browser() : result.browsers.front();
  json::array loads;
  for (const LoadResult::Load& load : result.loads) loads.push_back(load_json(load));
  json::array replays;
  for (const ReplayRun& replay : result.replays) replays.push_back(replay_json(replay));
  json::object out;
  out["schema"] = "reprise-load/1";
  out["reprise"] = as_utf8(result.reprise);
  out["archive"] = text_or_null(std::string_view(result.archive));
  out["archive_sha256"] = text_or_null(std::string_view(result.archive_sha256));
  out["machine"] = machine_json(result.machine);
  out["seed"] = result.seed;
  out["browser"] = {{"version", as_utf8(first.version)}, {"flags", texts_json(first.flags)}};
  out["browsers"] = std::move(browsers);
  out["settings"] = settings_json(result.settings);
  if (!result.what_ifs.empty()) out["what_ifs"] = what_ifs_json(result.what_ifs);
  out["loads"] = std::move(loads);
  out["replays"] = std::move(replays);
  return out;
}

Result<void> write_result(const LoadResult& result, const std::filesystem::path& path) {
  return write_private_file(json::serialize(to_json(result)) + "\n", path);
}

Result<void> write_page_report(const PageReport& report, const std::filesystem::path& path) {
  json::object const json{{"browser", browser_json(report.browser)},
                          {"page", page_json(report.page)}};
  return write_private_file(json::serialize(json) + "\n", path);
}

}  // namespace reprise
