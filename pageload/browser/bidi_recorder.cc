#include "pageload/browser/bidi_recorder.h"

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/value.hpp>
#include <utility>

#include "base/text/ascii.h"
#include "base/text/json_fields.h"

namespace json = boost::json;

namespace reprise {
namespace {

constexpr std::size_t kContextsMax = 20'000;

double seconds_at(const json::object& object, std::string_view name) {
  double const ms = number_at(object, name);
  return ms > 0 ? ms / 1000 : -1;
}

/// The value of a header field of a request or response; `name` in lower case. Empty if missing.
std::string_view header_of(const json::object& message, std::string_view name) {
  for (json::value const& header : array_at(message, "headers")) {
    auto const* const object = header.if_object();
    if (object == nullptr) continue;
    if (std::ranges::equal(text_at(*object, "name"), name, {}, to_lower)) {
      return text_at(object_at(*object, "value"), "value");
    }
  }
  return {};
}

/// DevTools' name for a request's destination.
std::string_view type_of(const json::object& request) {
  static constexpr std::pair<std::string_view, std::string_view> kByDestination[] = {
      {"document", "Document"}, {"iframe", "Document"},   {"frame", "Document"},
      {"script", "Script"},     {"style", "Stylesheet"},  {"image", "Image"},
      {"font", "Font"},         {"audio", "Media"},       {"video", "Media"},
      {"track", "TextTrack"},   {"manifest", "Manifest"},
  };
  for (auto const& [destination, type] : kByDestination) {
    if (text_at(request, "destination") == destination) return type;
  }
  auto const initiator = text_at(request, "initiatorType");
  if (initiator == "fetch") return "Fetch";
  if (initiator == "xmlhttprequest") return "XHR";
  if (initiator == "beacon") return "Ping";
  if (header_of(request, "upgrade") == "websocket") return "WebSocket";
  if (header_of(request, "accept") == "text/event-stream") return "EventSource";
  if (!header_of(request, "access-control-request-method").empty()) return "Preflight";
  return "Other";
}

/// network.FetchTimingInfo: ms since the epoch; 0 if unknown.
RequestTiming bidi_timing_of(const json::object& timings) {
  static constexpr std::array<std::string_view, kRequestTimes.size()> kNames = {
      "dnsStart",     "dnsEnd", "connectStart", "tlsStart", "connectEnd",
      "requestStart", "",       "responseStart"};
  RequestTiming out;
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    double const at_ms = number_at(timings, kNames[i]);
    if (at_ms > 0) out.*kRequestTimes[i].at_ms = at_ms;
  }
  return out;
}

}  // namespace

BidiRecorder::BidiRecorder(std::string page) : PageRecord(page), contexts_{std::move(page)} {}

void BidiRecorder::on_event(std::string_view method, const json::object& params) {
  constexpr std::string_view kNetwork = "network.";
  constexpr std::string_view kContext = "browsingContext.";
  if (method.starts_with(kNetwork)) {
    on_network_event(method.substr(kNetwork.size()), params);
  } else if (method.starts_with(kContext)) {
    on_context_event(method.substr(kContext.size()), params);
  } else if (method == "log.entryAdded" && text_at(params, "level") == "error") {
    auto const& frames = array_at(object_at(params, "stackTrace"), "callFrames");
    std::string text(text_at(params, "text"));
    bool const thrown = text_at(params, "type") == "javascript";
    if (thrown && !frames.empty() && frames[0].is_object()) {
      auto const& frame = frames[0].get_object();
      text += " (" + std::string(text_at(frame, "url")) + ":" +
              std::to_string(integer_at(frame, "lineNumber") + 1) + ")";
    }
    add_console_error(std::move(text));
  }
}

void BidiRecorder::on_network_event(std::string_view event, const json::object& params) {
  if (!contexts_.contains(std::string(text_at(params, "context")))) return;
  if (event == "beforeRequestSent") return on_request(params);
  auto const& request = object_at(params, "request");
  Entry* const entry = find(text_at(request, "request"));
  if (entry == nullptr) return;
  double const at_s = seconds_at(params, "timestamp");
  if (event == "responseStarted" || event == "responseCompleted") apply_response(*entry, params);
  if (event == "responseCompleted") {
    end(*entry, at_s, {});
  } else if (event == "fetchError") {
    end(*entry, at_s, text_at(params, "errorText"));
  }
}

void BidiRecorder::on_request(const json::object& params) {
  auto const& request = object_at(params, "request");
  auto const id = text_at(request, "request");
  auto const context = text_at(params, "context");
  // The next hop of a redirect.
  if (Entry* const before = find(id)) before->redirected = true;
  auto const type = type_of(request);
  std::string url(text_at(request, "url"));
  if (type == "WebSocket" && url.starts_with("http")) url.replace(0, 4, "ws");
  url.resize(std::min(url.find('#'), url.size()));
  bool const of_memory = type == "Stylesheet" && text_at(request, "initiatorType").empty();
  if (of_memory && has_cached_style_sheet(context, url)) return;
  Entry* const entry = begin({}, context, id, url, type);
  double const start_s = seconds_at(object_at(request, "timings"), "requestTime");
  if (start_s_ < 0 && type == "Document" && context == main_frame_) start_s_ = start_s;
  if (entry == nullptr) return;
  entry->start_s = start_s;
  entry->loader = text_at(params, "navigation");
  auto const destination = text_at(request, "destination");
  entry->is_object = destination == "object" || destination == "embed";
  entry->request.method = limited(text_at(request, "method"));
  entry->request_body_missing = integer_at(request, "bodySize") > 0;
}

bool BidiRecorder::has_cached_style_sheet(std::string_view frame, std::string_view url) const {
  for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry) {
    if (entry->frame != frame) continue;
    const PageRequest& request = entry->request;
    if (request.resource_type == "Document") return false;
    bool const is_sheet = request.resource_type == "Stylesheet" && request.url == url;
    if (is_sheet && request.from_cache) return true;
  }
  return false;
}

void BidiRecorder::apply_response(Entry& entry, const json::object& params) {
  auto const& response = object_at(params, "response");
  PageRequest& request = entry.request;
  request.status = static_cast<int>(integer_at(response, "status"));
  request.protocol = limited(text_at(response, "protocol"));
  if (auto const type = limited(text_at(response, "mimeType")); !type.empty()) {
    request.mime_type = type;
  }
  entry.origin_failure = origin_failure_of(header_of(response, "proxy-status"));
  request.from_cache = request.from_cache || flag_at(response, "fromCache");
  request.encoded_bytes = integer_at(response, "bytesReceived");
  auto const decoded = integer_at(object_at(response, "content"), "size");
  entry.data_bytes = decoded > 0 ? decoded : integer_at(response, "bodySize");
  // A cached response has no network times.
  auto const& timings = object_at(object_at(params, "request"), "timings");
  if (!request.from_cache && integer_at(timings, "responseStart") > 0) {
    entry.timing = bidi_timing_of(timings);
  }
  double const head_s = seconds_at(timings, "responseStart");
  if (head_s >= entry.start_s) {
    entry.response_s = head_s;
  } else if (entry.response_s < 0) {
    entry.response_s = seconds_at(params, "timestamp");
  }
}

void BidiRecorder::on_context_event(std::string_view event, const json::object& params) {
  auto const context = text_at(params, "context");
  if (event == "contextCreated") {
    bool const ours = contexts_.contains(std::string(text_at(params, "parent")));
    if (ours && contexts_.size() < kContextsMax) contexts_.emplace(context);
  } else if (event == "contextDestroyed") {
    crashed_ = crashed_ || context == main_frame_;
    abort_requests([context](const Entry& e) { return e.frame == context; },
                   "NS_BINDING_ABORTED (its frame went away)");
  } else if (context == main_frame_) {
    on_page_event(event, params);
  } else if (event == "load" && contexts_.contains(std::string(context))) {
    end_object(text_at(params, "url"), seconds_at(params, "timestamp"));
  }
}

void BidiRecorder::end_object(std::string_view url, double at_s) {
  auto const object = std::ranges::find_if(entries_, [url](const Entry& e) {
    return e.in_flight && e.is_object && e.request.url == url.substr(0, url.find('#'));
  });
  if (object != entries_.end()) end(*object, at_s, {});
}

void BidiRecorder::on_page_event(std::string_view event, const json::object& params) {
  std::string const url(text_at(params, "url"));
  if (event == "navigationCommitted") {
    auto const navigation = text_at(params, "navigation");
    // Requests of the page that is left; the new page's own request was reported before.
    abort_requests(
        [&](const Entry& e) {
          return contexts_.contains(e.frame) && e.loader != navigation && !e.loader.empty();
        },
        "NS_BINDING_ABORTED (its page was left)");
    page_ = {};
    page_.committed = true;
    page_.url = url;
    page_.loader = navigation;
    count_activity();
  } else if (event == "downloadWillBegin" && !page_.committed) {
    is_download_ = true;
    count_activity();
  } else if (event == "navigationFailed" && page_.committed) {
    page_.unreachable_url = url;
    count_activity();
  } else if (!page_.committed) {
    return;  // of about:blank
  } else if (event == "fragmentNavigated" || event == "historyUpdated") {
    page_.url = url;
  } else if (event == "domContentLoaded") {
    page_.dom_content_loaded_s = seconds_at(params, "timestamp");
  } else if (event == "load") {
    note_load_event(seconds_at(params, "timestamp"));
  }
}

}  // namespace reprise
