#include "pageload/results/result_file.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <fstream>
#include <set>
#include <thread>
#include <utility>

#include "base/http/digest.h"
#include "base/system/private_file.h"

namespace json = boost::json;

namespace reprise {
namespace {

/// The length of the UTF-8 sequence at the start of `text`; 0 when there is none (RFC 3629).
std::size_t sequence_bytes(std::string_view text) {
  auto const byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned const first = byte(0);
  std::size_t const size = first < 0x80                     ? 1
                           : first >= 0xC2 && first <= 0xDF ? 2
                           : first >= 0xE0 && first <= 0xEF ? 3
                           : first >= 0xF0 && first <= 0xF4 ? 4
                                                            : 0;
  if (size == 0 || size > text.size()) return 0;
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  bool const overlong = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xF0 && byte(1) < 0x90);
  bool const surrogate = first == 0xED && byte(1) >= 0xA0;
  bool const beyond = first == 0xF4 && byte(1) >= 0x90;
  return overlong || surrogate || beyond ? 0 : size;
}

/// Text of a page may be anything; JSON is UTF-8.
json::string text_json(std::string_view text) {
  json::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    auto const size = sequence_bytes(text);
    if (size > 0) {
      out.append(text.substr(0, size));
    } else {
      out.append("\xEF\xBF\xBD");  // U+FFFD
    }
    text.remove_prefix(size > 0 ? size : 1);
  }
  return out;
}

json::value time_json(double ms) {
  return ms < 0 ? json::value() : json::value(ms);
}

json::array texts_json(const std::vector<std::string>& texts) {
  json::array out;
  for (const std::string& text : texts) out.push_back(text_json(text));
  return out;
}

json::object request_json(const PageRequest& request) {
  json::object out;
  out["url"] = text_json(request.url);
  out["method"] = text_json(request.method);
  out["resource_type"] = text_json(request.resource_type);
  out["status"] = request.status;
  out["protocol"] = text_json(request.protocol);
  out["remote_address"] = text_json(request.remote_address);
  out["mime_type"] = text_json(request.mime_type);
  out["failure"] = text_json(request.failure);
  out["from_cache"] = request.from_cache;
  out["encoded_bytes"] = request.encoded_bytes;
  out["decoded_bytes"] = request.decoded_bytes;
  out["connection"] = request.connection < 0 ? json::value() : json::value(request.connection);
  out["initiator"] = text_json(request.initiator);
  out["priority"] = text_json(request.priority);
  out["body_sha256"] = request.body_sha256 ? json::value(*request.body_sha256) : json::value();
  out["request_body_sha256"] = request.request_body_sha256.empty()
                                   ? json::value()
                                   : json::value(request.request_body_sha256);
  out["start_ms"] = time_json(request.start_ms);
  out["response_ms"] = time_json(request.response_ms);
  out["end_ms"] = time_json(request.end_ms);
  json::value& timing = out["timing"];
  if (!request.timing) return out;
  auto& times = timing.emplace_object();
  for (auto const& time : kRequestTimes) times[time.name] = time_json(*request.timing.*time.at_ms);
  return out;
}

/// Null when the browser tells of no connection.
json::value connection_count(const PageLoad& page) {
  std::set<std::int64_t> connections;
  for (const PageRequest& request : page.requests) {
    if (request.connection >= 0) connections.insert(request.connection);
  }
  return connections.empty() ? json::value() : json::value(connections.size());
}

std::int64_t encoded_bytes(const PageLoad& page) {
  std::int64_t sum = 0;
  for (const PageRequest& request : page.requests) sum += request.encoded_bytes;
  return sum;
}

json::object configuration_json(const LoadConfiguration& configuration) {
  return {{"browser", text_json(configuration.browser)},
          {"protocol", text_json(configuration.protocol)},
          {"link", text_json(configuration.link)},
          {"cache", text_json(configuration.cache)}};
}

/// `name` of the replay's report; null when there is none.
json::value told_by(const ReplayRun* replay, std::string_view name) {
  auto const* const report = replay == nullptr ? nullptr : replay->report.if_object();
  auto const* const told = report == nullptr ? nullptr : report->if_contains(name);
  return told == nullptr ? json::value() : *told;
}

json::object load_json(const LoadResult& result, const LoadResult::Load& load) {
  auto const* const replay = load.replay ? &result.replays.at(*load.replay) : nullptr;
  json::object out = load.page;
  out["run"] = load.run;
  out["configuration"] = configuration_json(load.configuration);
  out["order"] = load.order;
  out["warm_up"] = load.warm_up;
  out["replay"] = load.replay ? json::value(*load.replay) : json::value();
  out["hits"] = told_by(replay, "hits");
  out["misses"] = told_by(replay, "misses");
  return out;
}

json::object machine_json(const Machine& machine) {
  return {{"cpu", text_json(machine.cpu)},
          {"cores", machine.cores},
          {"kernel", text_json(machine.kernel)},
          {"memory_bytes", machine.memory_bytes}};
}

/// The value of the first line `name : value` of a file under /proc.
std::string first_line_of(const std::filesystem::path& path, std::string_view name) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(name)) continue;
    auto const at = line.find_first_not_of(" \t", line.find(':') + 1);
    return at == std::string::npos ? "" : line.substr(at);
  }
  return {};
}

}  // namespace

Machine this_machine() {
  Machine machine;
  machine.cpu = first_line_of("/proc/cpuinfo", "model name");
  machine.cores = std::thread::hardware_concurrency();
  struct utsname system{};
  if (::uname(&system) == 0) machine.kernel = std::string(system.sysname) + " " + system.release;
  auto const pages = ::sysconf(_SC_PHYS_PAGES);
  auto const page_bytes = ::sysconf(_SC_PAGESIZE);
  if (pages > 0 && page_bytes > 0) {
    machine.memory_bytes =
        static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page_bytes);
  }
  return machine;
}

json::object browser_json(const LoadResult::Browser& browser) {
  return {{"name", text_json(browser.name)},
          {"version", text_json(browser.version)},
          {"flags", texts_json(browser.flags)}};
}

json::object page_json(const PageLoad& page, bool with_dom) {
  json::array requests;
  for (const PageRequest& request : page.requests) requests.push_back(request_json(request));
  json::object out;
  out["url"] = text_json(page.url);
  out["outcome"] = to_string(page.outcome);
  out["failure"] = text_json(page.failure);
  out["started_unix_ms"] = page.started_unix_ms;
  out["final_url"] = text_json(page.final_url);
  out["dom_content_loaded_ms"] = time_json(page.dom_content_loaded_ms);
  out["load_event_ms"] = time_json(page.load_event_ms);
  out["first_paint_ms"] = time_json(page.first_paint_ms);
  out["first_contentful_paint_ms"] = time_json(page.first_contentful_paint_ms);
  out["largest_contentful_paint_ms"] = time_json(page.largest_contentful_paint_ms);
  out["cumulative_layout_shift"] =
      page.cumulative_layout_shift ? json::value(*page.cumulative_layout_shift) : json::value();
  out["last_resource_ms"] = time_json(page.last_resource_ms);
  out["last_load_ms"] = time_json(page.last_load_ms);
  out["encoded_bytes"] = encoded_bytes(page);
  out["request_count"] = page.requests.size();
  out["connection_count"] = connection_count(page);
  out["dom_sha256"] = page.dom.empty() ? json::value() : json::value(sha256_hex(page.dom));
  if (with_dom) out["dom"] = text_json(page.dom);
  out["requests"] = std::move(requests);
  out["requests_not_kept"] = page.requests_not_kept;
  out["console_errors"] = texts_json(page.console_errors);
  out["remarks"] = texts_json(page.remarks);
  return out;
}

json::object to_json(const LoadResult& result) {
  json::array loads;
  for (const auto& load : result.loads) loads.push_back(load_json(result, load));
  json::array replays;
  for (const ReplayRun& replay : result.replays) {
    replays.push_back(
        {{"run", replay.run}, {"exit_code", replay.exit_code}, {"report", replay.report}});
  }
  json::object out;
  out["schema"] = "reprise-load/1";
  out["reprise"] = REPRISE_VERSION;
  out["archive"] =
      result.archive.empty() ? json::value() : json::value(text_json(result.archive.native()));
  out["archive_sha256"] =
      result.archive_sha256.empty() ? json::value() : json::value(result.archive_sha256);
  out["machine"] = machine_json(result.machine);
  out["seed"] = result.seed;
  json::array browsers;
  for (const LoadResult::Browser& each : result.browsers) browsers.push_back(browser_json(each));
  json::object first =
      browser_json(result.browsers.empty() ? LoadResult::Browser() : result.browsers.front());
  first.erase("name");
  out["browser"] = std::move(first);
  out["browsers"] = std::move(browsers);
  json::object settings{{"timeout_ms", result.page.timeout.count()},
                        {"quiet_ms", result.page.quiet.count()},
                        {"settle_ms", result.page.settle.count()},
                        {"width", result.width},
                        {"height", result.height},
                        {"cpu_throttle", result.page.cpu_throttle}};
  if (!result.page.steps.empty()) {
    json::array steps;
    for (Step const& step : result.page.steps) steps.emplace_back(to_string(step));
    settings["steps"] = std::move(steps);
  }
  out["settings"] = std::move(settings);
  out["loads"] = std::move(loads);
  out["replays"] = std::move(replays);
  return out;
}

Result<void> write_result(const json::object& json, const std::filesystem::path& path) {
  return write_private_file(json::serialize(json) + "\n", path);
}

}  // namespace reprise
