#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <cmath>

#include "base/text/json_fields.h"
#include "view/inputs.h"

namespace json = boost::json;

namespace reprise {
namespace {

constexpr std::size_t kListMax = 200;  ///< of console errors, misses and the like, a load
constexpr std::size_t kLinkSpansMax = 4096;

/// The metrics of a load that the page shows, as the schema names them.
constexpr std::array kMetrics = {"first_paint_ms",
                                 "first_contentful_paint_ms",
                                 "largest_contentful_paint_ms",
                                 "dom_content_loaded_ms",
                                 "load_event_ms",
                                 "last_load_ms",
                                 "last_resource_ms",
                                 "cumulative_layout_shift",
                                 "request_count",
                                 "encoded_bytes",
                                 "connection_count",
                                 "hits",
                                 "misses"};

/// Of a number alone; null of anything else, and of what is no time or count.
json::value number_value(const json::object& object, std::string_view name) {
  auto const value = number_at(object, name, kUnknown);
  return std::isfinite(value) ? json::value(value) : json::value();
}

json::array texts_of(const json::array& from) {
  json::array texts;
  for (const json::value& each : from) {
    if (texts.size() == kListMax) break;
    if (each.is_string()) texts.push_back(each);
  }
  return texts;
}

json::object settings_of(const json::object& result) {
  auto const& browser = object_at(result, "browser");
  auto const& settings = object_at(result, "settings");
  auto const& machine = object_at(result, "machine");
  return {{"archive", text_at(result, "archive")},
          {"archive_sha256", text_at(result, "archive_sha256")},
          {"browser", text_at(browser, "version")},
          {"width", number_value(settings, "width")},
          {"height", number_value(settings, "height")},
          {"cpu", text_at(machine, "cpu")},
          {"cores", number_value(machine, "cores")},
          {"kernel", text_at(machine, "kernel")}};
}

json::object metrics_of(const json::object& load) {
  json::object metrics;
  for (auto const* name : kMetrics) metrics[name] = number_value(load, name);
  auto const& requests = array_at(load, "requests");
  // Older results do not count themselves.
  if (metrics["request_count"].is_null()) metrics["request_count"] = requests.size();
  if (metrics["encoded_bytes"].is_null()) {
    double bytes = 0;
    for (const json::value& each : requests) {
      if (each.is_object()) bytes += number_at(each.get_object(), "encoded_bytes");
    }
    metrics["encoded_bytes"] = bytes;
  }
  return metrics;
}

/// The report of the replay that served a load; an empty one when there is none.
const json::object& report_of(const json::object& result, const json::object& load) {
  auto const& replays = array_at(result, "replays");
  auto const index = number_at(load, "replay", kUnknown);
  if (index >= 0 && index < static_cast<double>(replays.size())) {
    auto const& replay = replays[static_cast<std::size_t>(index)];
    if (replay.is_object()) return object_at(replay.get_object(), "report");
  }
  for (const json::value& each : replays) {
    if (!each.is_object() || load.contains("replay")) continue;
    if (integer_at(each.get_object(), "run") == integer_at(load, "run")) {
      return object_at(each.get_object(), "report");
    }
  }
  static const json::object kNone;
  return kNone;
}

json::array misses_of(const json::object& report) {
  json::array misses;
  for (const json::value& each : array_at(report, "distinct_misses")) {
    if (misses.size() == kListMax) break;
    if (!each.is_object()) continue;
    auto const& miss = each.get_object();
    misses.push_back(
        json::array{text_at(miss, "method"), text_at(miss, "url"), text_at(miss, "reason")});
  }
  return misses;
}

json::array numbers_of(const json::array& from) {
  json::array numbers;
  for (const json::value& each : from) {
    if (numbers.size() == kLinkSpansMax) break;
    numbers.push_back(each.is_number() ? each : json::value(0));
  }
  return numbers;
}

json::value timeline_of(const json::object& link) {
  auto const& timeline = object_at(link, "timeline");
  if (timeline.empty()) return {};
  json::object out = {{"width_ms", number_value(timeline, "width_ms")}};
  for (auto const* side : {"down", "up"}) {
    auto const& series = object_at(timeline, side);
    json::object& shown = out[side].emplace_object();
    for (auto const* name : {"queue_bytes", "rate_bps", "delay_mean_ms", "packets", "drops"}) {
      shown[name] = numbers_of(array_at(series, name));
    }
  }
  return out;
}

/// What the link was, and how it did; null when the load had none.
json::value link_of(const json::object& report) {
  auto const& link = object_at(report, "link");
  if (link.empty()) return {};
  auto const& profile = object_at(link, "link");
  return json::object{{"text", text_at(link, "link_text")},
                      {"shaper", text_at(link, "shaper")},
                      {"rtt_ms", number_value(profile, "rtt_ms")},
                      {"down_bps", number_value(object_at(profile, "down"), "rate_bps")},
                      {"up_bps", number_value(object_at(profile, "up"), "rate_bps")},
                      {"doubts", texts_of(array_at(link, "doubts"))},
                      {"timeline", timeline_of(link)}};
}

json::object facts_of(const json::object& result, const json::object& load) {
  auto const& configuration = object_at(load, "configuration");
  auto const& report = report_of(result, load);
  return {{"url", text_at(load, "url")},
          {"final_url", text_at(load, "final_url")},
          {"run", number_value(load, "run")},
          {"order", number_value(load, "order")},
          {"warm_up", flag_at(load, "warm_up")},
          {"outcome", text_at(load, "outcome")},
          {"failure", text_at(load, "failure")},
          {"configuration",
           {{"browser", text_at(configuration, "browser")},
            {"protocol", text_at(configuration, "protocol")},
            {"link", text_at(configuration, "link")},
            {"cache", text_at(configuration, "cache")}}},
          {"metrics", metrics_of(load)},
          {"link", link_of(report)},
          {"misses", misses_of(report)},
          {"console_errors", texts_of(array_at(load, "console_errors"))},
          {"remarks", texts_of(array_at(load, "remarks"))}};
}

/// A number or a text that names a connection.
std::string connection_name(const json::object& request) {
  auto const* const connection = request.if_contains("connection");
  if (connection == nullptr || !connection->is_number()) {
    return std::string(text_at(request, "connection"));
  }
  return std::to_string(integer_at(request, "connection"));
}

/// Times that never were are null, or negative.
double time_at(const json::object& object, std::string_view name) {
  auto const time = number_at(object, name, kUnknown);
  return time >= 0 ? time : kUnknown;
}

void add_page_request(const json::object& request, ViewModel& model) {
  auto const& timing = object_at(request, "timing");
  auto const connection = connection_name(request);
  auto const head_ms = time_at(request, "response_ms");
  auto const first_byte_ms = time_at(timing, "first_byte_ms");
  model.add_request({.url = text_at(request, "url"),
                     .method = text_at(request, "method"),
                     .type = text_at(request, "resource_type"),
                     .protocol = text_at(request, "protocol"),
                     .address = text_at(request, "remote_address"),
                     .connection = connection,
                     .mime_type = text_at(request, "mime_type"),
                     .priority = text_at(request, "priority"),
                     .initiator = text_at(request, "initiator"),
                     .failure = text_at(request, "failure"),
                     .status = number_at(request, "status"),
                     .from_cache = flag_at(request, "from_cache"),
                     .encoded_bytes = number_at(request, "encoded_bytes", kUnknown),
                     .decoded_bytes = number_at(request, "decoded_bytes", kUnknown),
                     .start_ms = time_at(request, "start_ms"),
                     .dns_start_ms = time_at(timing, "dns_start_ms"),
                     .dns_end_ms = time_at(timing, "dns_end_ms"),
                     .connect_start_ms = time_at(timing, "connect_start_ms"),
                     .tls_start_ms = time_at(timing, "tls_start_ms"),
                     .connect_end_ms = time_at(timing, "connect_end_ms"),
                     .send_start_ms = time_at(timing, "send_start_ms"),
                     .send_end_ms = time_at(timing, "send_end_ms"),
                     .first_byte_ms = std::isnan(first_byte_ms) ? head_ms : first_byte_ms,
                     .end_ms = time_at(request, "end_ms")});
}

}  // namespace

std::expected<void, std::string> add_result(const json::value& result, std::string_view name,
                                            ViewModel& model) {
  if (!result.is_object()) return std::unexpected("it is not a JSON object");
  auto const& object = result.get_object();
  auto const schema = text_at(object, "schema");
  if (schema != "reprise-load/1") {
    return std::unexpected("its schema is not reprise-load/1, which `reprise load -o` writes");
  }
  model.add_input({{"kind", "result"}, {"name", name}, {"settings", settings_of(object)}});
  for (const json::value& load : array_at(object, "loads")) {
    if (!load.is_object()) continue;
    model.begin_load(facts_of(object, load.get_object()));
    for (const json::value& request : array_at(load.get_object(), "requests")) {
      if (request.is_object()) add_page_request(request.get_object(), model);
    }
    model.end_load();
  }
  return {};
}

}  // namespace reprise
