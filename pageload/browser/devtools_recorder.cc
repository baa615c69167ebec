#include "pageload/browser/devtools_recorder.h"

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/value.hpp>
#include <utility>

#include "base/http/digest.h"
#include "base/text/base64.h"
#include "base/text/json_fields.h"
#include "pageload/browser/console_text.h"

namespace json = boost::json;

namespace reprise {
namespace {

/// The body of a request, if the event has all of it; nullopt if bytes are missing.
std::optional<std::string> posted_bytes(const json::object& request) {
  std::string bytes;
  auto const& entries = array_at(request, "postDataEntries");
  for (json::value const& entry : entries) {
    auto const* object = entry.if_object();
    // A file or blob has no bytes here.
    if (object == nullptr || !object->contains("bytes")) return std::nullopt;
    auto const part = decode_base64(text_at(*object, "bytes"));
    if (!part) return std::nullopt;
    bytes += *part;
  }
  if (entries.empty()) return std::nullopt;
  return bytes;
}

std::string cut_url(std::string_view url) {
  constexpr std::size_t kUrlBytesMax = 2048;
  return std::string(url.substr(0, kUrlBytesMax));
}

/// Names that scripts give to themselves (sourceURL), such as the injected one, which calls the
/// page's functions and the browser's, are no URLs.
bool is_url(std::string_view name) {
  return name.find(':') != std::string_view::npos;
}

/// The initiator of a request: the document whose parser saw it, or the script with a URL that is
/// on top of the stack.
std::string initiator_of(const json::object& initiator) {
  if (auto const url = text_at(initiator, "url"); !url.empty()) return cut_url(url);
  const json::object* stack = &object_at(initiator, "stack");
  for (int depth = 0; depth < 8 && !stack->empty(); ++depth) {
    for (json::value const& frame : array_at(*stack, "callFrames")) {
      auto const* const object = frame.if_object();
      if (object == nullptr) continue;
      if (auto const url = text_at(*object, "url"); is_url(url)) return cut_url(url);
    }
    stack = &object_at(*stack, "parent");
  }
  return {};
}

/// Network.ResourceTiming: ms since its requestTime.
RequestTiming devtools_timing_of(const json::object& timing) {
  static constexpr std::array<std::string_view, kRequestTimes.size()> kNames = {
      "dnsStart",   "dnsEnd",    "connectStart", "sslStart",
      "connectEnd", "sendStart", "sendEnd",      "receiveHeadersStart"};
  double const zero_ms = number_at(timing, "requestTime") * 1000;
  RequestTiming out;
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    double const at_ms = number_at(timing, kNames[i], -1);
    if (at_ms >= 0) out.*kRequestTimes[i].at_ms = zero_ms + at_ms;
  }
  return out;
}

}  // namespace

DevtoolsRecorder::DevtoolsRecorder(std::string main_session, std::string main_frame)
    : PageRecord(std::move(main_frame)), main_session_(std::move(main_session)) {
  tells_shifts_ = true;
}

void DevtoolsRecorder::on_event(std::string_view session, std::string_view method,
                                const json::object& params) {
  constexpr std::string_view kNetwork = "Network.";
  constexpr std::string_view kPage = "Page.";
  if (method.starts_with(kNetwork)) {
    on_network_event(session, method.substr(kNetwork.size()), params);
  } else if (method.starts_with(kPage)) {
    on_page_event(session, method.substr(kPage.size()), params);
  } else if (method == "Inspector.targetCrashed") {
    crashed_ = crashed_ || session == main_session_;
  } else if (method == "Target.detachedFromTarget") {
    auto const gone = text_at(params, "sessionId");
    abort_requests([gone](const Entry& e) { return e.session == gone; },
                   "net::ERR_ABORTED (its frame or worker went away)");
  } else if (method == "PerformanceTimeline.timelineEventAdded") {
    if (session == main_session_) on_timeline(object_at(params, "event"));
  } else if (auto error = console_error_of(method, params)) {
    add_console_error(std::move(*error));
  }
}

void DevtoolsRecorder::on_network_event(std::string_view session, std::string_view event,
                                        const json::object& params) {
  double const at_s = number_at(params, "timestamp", -1);
  if (event == "requestWillBeSent") {
    on_request(session, params);
  } else if (event.starts_with("webSocket")) {
    on_web_socket(session, event, params);
  } else if (event == "responseReceivedExtraInfo") {
    // Arrives before or after the event it belongs to, once for each hop that used the network.
    if (wire_statuses_.size() < kRequestsMax) {
      auto& statuses = wire_statuses_[std::string(text_at(params, "requestId"))];
      if (statuses.size() < 64) {
        statuses.push_back(static_cast<int>(integer_at(params, "statusCode")));
      }
    }
  } else if (Entry* const entry = find(text_at(params, "requestId"))) {
    // These come from the target that has the body. Others can come from another target, such as
    // those of the page about requests of its workers.
    if (event == "responseReceived" || event == "dataReceived" || event == "loadingFinished") {
      entry->session = session;
    }
    if (event == "responseReceived") {
      auto const& response = object_at(params, "response");
      apply_response(*entry, response);
      entry->has_extra_info = flag_at(params, "hasExtraInfo");
      if (entry->response_s < 0) entry->response_s = at_s;
      note_response(*entry);
      // Without a response the only bytes are those of the browser's own error page.
    } else if (event == "dataReceived" && entry->request.status != 0) {
      entry->data_bytes += integer_at(params, "dataLength");
      entry->request.encoded_bytes += integer_at(params, "encodedDataLength");
      note_response(*entry);
    } else if (event == "resourceChangedPriority") {
      entry->request.priority = limited(text_at(params, "newPriority"));
    } else if (event == "requestServedFromCache") {
      entry->request.from_cache = true;
    } else if (event == "loadingFinished") {
      entry->request.encoded_bytes = integer_at(params, "encodedDataLength");
      end(*entry, at_s, {});
    } else if (event == "loadingFailed") {
      auto const text = text_at(params, "errorText");
      end(*entry, at_s, text.empty() ? "net::ERR_ABORTED" : text);
    }
  }
}

void DevtoolsRecorder::on_request(std::string_view session, const json::object& params) {
  auto const& request = object_at(params, "request");
  auto const type = text_at(params, "type");
  double const at_s = number_at(params, "timestamp", -1);
  if (start_s_ < 0 && type == "Document" && text_at(params, "frameId") == main_frame_) {
    start_s_ = at_s;
    if (double const wall_s = number_at(params, "wallTime"); wall_s > 0) epoch_s_ = wall_s - at_s;
  }
  if (Entry* const before = find(text_at(params, "requestId"))) {
    // Both a frame's session and its parent's may report the same request.
    if (!params.contains("redirectResponse")) return;
    apply_response(*before, object_at(params, "redirectResponse"));
    before->redirected = true;
    before->has_extra_info = flag_at(params, "redirectHasExtraInfo");
    if (before->response_s < 0) before->response_s = at_s;
    end(*before, at_s, {});
  }
  // A preflight gets its type only with the response.
  bool const preflight = text_at(object_at(params, "initiator"), "type") == "preflight";
  Entry* const entry = begin(session, text_at(params, "frameId"), text_at(params, "requestId"),
                             text_at(request, "url"), preflight ? "Preflight" : type);
  if (entry == nullptr) return;
  entry->start_s = at_s;
  entry->loader = text_at(params, "loaderId");
  entry->request.method = limited(text_at(request, "method"));
  entry->request.priority = limited(text_at(request, "initialPriority"));
  entry->request.initiator = initiator_of(object_at(params, "initiator"));
  if (flag_at(request, "hasPostData")) {
    auto const bytes = posted_bytes(request);
    entry->request_body_missing = !bytes;
    if (bytes) entry->request.request_body_sha256 = sha256_hex(*bytes);
  }
}

void DevtoolsRecorder::on_web_socket(std::string_view session, std::string_view event,
                                     const json::object& params) {
  if (event == "webSocketCreated") {
    auto* const entry =
        begin(session, {}, text_at(params, "requestId"), text_at(params, "url"), "WebSocket");
    if (entry != nullptr) entry->request.method = "GET";
    return;
  }
  Entry* const entry = find(text_at(params, "requestId"));
  if (entry == nullptr) return;
  double const at_s = number_at(params, "timestamp", -1);
  if (event == "webSocketWillSendHandshakeRequest") {
    entry->start_s = at_s;
  } else if (event == "webSocketHandshakeResponseReceived") {
    entry->response_s = at_s;
    entry->request.status = static_cast<int>(integer_at(object_at(params, "response"), "status"));
  } else if (event == "webSocketFrameError") {
    end(*entry, at_s, text_at(params, "errorMessage"));
  } else if (event == "webSocketClosed") {
    end(*entry, at_s, {});
  }
}

void DevtoolsRecorder::on_page_event(std::string_view session, std::string_view event,
                                     const json::object& params) {
  double const at_s = number_at(params, "timestamp", -1);
  if (event == "frameNavigated") {
    on_frame_navigated(session, object_at(params, "frame"));
  } else if (event == "frameDetached" && text_at(params, "reason") == "remove") {
    auto const gone = text_at(params, "frameId");
    abort_requests([gone](const Entry& e) { return e.frame == gone; },
                   "net::ERR_ABORTED (its frame went away)");
  } else if (session != main_session_ || !page_.committed) {
    return;  // the rest concerns the page itself, once it has left about:blank
  } else if (event == "navigatedWithinDocument" && text_at(params, "frameId") == main_frame_) {
    page_.url = text_at(params, "url");
  } else if (event == "domContentEventFired") {
    page_.dom_content_loaded_s = at_s;
  } else if (event == "loadEventFired") {
    note_load_event(at_s);
  } else if (event == "lifecycleEvent" && text_at(params, "loaderId") == page_.loader) {
    if (text_at(params, "name") == "firstPaint") page_.first_paint_s = at_s;
    if (text_at(params, "name") == "firstContentfulPaint") page_.first_contentful_paint_s = at_s;
  }
}

/// Entries of the page's performance timeline, from the browser, not from the page.
void DevtoolsRecorder::on_timeline(const json::object& event) {
  if (!page_.committed || epoch_s_ == 0 || text_at(event, "frameId") != main_frame_) return;
  double const at_s = number_at(event, "time") - epoch_s_;
  if (text_at(event, "type") == "largest-contentful-paint") {
    page_.largest_contentful_paint_s = at_s;
    page_.largest_contentful_paint_url.reset();
    if (event.contains("lcpDetails")) {
      page_.largest_contentful_paint_url = cut_url(text_at(object_at(event, "lcpDetails"), "url"));
    }
  } else if (text_at(event, "type") == "layout-shift") {
    auto const& shift = object_at(event, "layoutShiftDetails");
    if (flag_at(shift, "hadRecentInput") || page_.shifts.size() >= kShiftsMax) return;
    page_.shifts.push_back({.at_s = at_s, .value = number_at(shift, "value")});
  }
}

void DevtoolsRecorder::on_frame_navigated(std::string_view session, const json::object& frame) {
  auto const id = text_at(frame, "id");
  auto const loader = text_at(frame, "loaderId");
  bool const is_page = session == main_session_ && id == main_frame_;
  // The renderer of the page that is left does not always report the end of its requests, nor of
  // those of the frames in it.
  abort_requests(
      [&](const Entry& e) {
        bool const was_in_it = e.frame == id || (is_page && e.session == main_session_);
        return was_in_it && e.loader != loader;
      },
      "net::ERR_ABORTED (its page was left)");
  if (!is_page) return;
  page_ =
      Page{.committed = true,
           .url = std::string(text_at(frame, "url")) + std::string(text_at(frame, "urlFragment")),
           .loader = std::string(loader),
           .unreachable_url = std::string(text_at(frame, "unreachableUrl"))};
  count_activity();
}

void DevtoolsRecorder::apply_response(Entry& entry, const json::object& response) {
  PageRequest& request = entry.request;
  request.status = static_cast<int>(integer_at(response, "status"));
  request.protocol = limited(text_at(response, "protocol"));
  request.mime_type = limited(text_at(response, "mimeType"));
  if (auto const address = text_at(response, "remoteIPAddress"); !address.empty()) {
    request.remote_address =
        std::string(address) + ":" + std::to_string(integer_at(response, "remotePort"));
  }
  auto const& headers = object_at(response, "headers");
  for (auto const name : {"Proxy-Status", "proxy-status"}) {  // by HTTP/1.1 and by HTTP/2
    if (headers.contains(name)) entry.origin_failure = origin_failure_of(text_at(headers, name));
  }
  // A prefetch that fills that cache has the flag, too.
  bool const was_prefetched =
      flag_at(response, "fromPrefetchCache") && request.resource_type != "Prefetch";
  request.from_cache = request.from_cache || flag_at(response, "fromDiskCache") || was_prefetched;
  request.encoded_bytes = integer_at(response, "encodedDataLength");
  // The network's own times are not delayed by a busy page. A cached response has the times of the
  // request that filled the cache.
  auto const& timing = object_at(response, "timing");
  double const head_s =
      number_at(timing, "requestTime", -1) + number_at(timing, "receiveHeadersEnd") / 1000;
  if (request.from_cache) return;
  if (head_s >= entry.start_s) entry.response_s = head_s;
  if (!timing.empty()) entry.timing = devtools_timing_of(timing);
  auto const connection = integer_at(response, "connectionId");
  if (connection > 0) request.connection = connection;
}

PageLoad DevtoolsRecorder::page_load() const {
  PageLoad load = PageRecord::page_load();
  std::unordered_map<std::string, std::size_t> hops;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    // After a revalidation the event has the status of the cached response.
    auto const wire = wire_statuses_.find(entries_[i].id);
    if (!entries_[i].has_extra_info || wire == wire_statuses_.end()) continue;
    std::size_t const hop = hops[entries_[i].id]++;
    if (hop < wire->second.size()) load.requests[i].status = wire->second[hop];
  }
  return load;
}

}  // namespace reprise
