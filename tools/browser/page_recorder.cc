#include "tools/browser/page_recorder.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/value.hpp>
#include <utility>

#include "tools/browser/console_text.h"
#include "tools/browser/digest.h"
#include "tools/browser/json_fields.h"

namespace json = boost::json;

namespace reprise {
namespace {

bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [text](std::string_view prefix) { return text.starts_with(prefix); });
}

bool is_any_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

/// Types that a page may hold open for good. A media element stops reading when it has enough, so
/// its request has no end either.
bool may_stay_open(std::string_view type) {
  return is_any_of(type, {"EventSource", "WebSocket", "Media"});
}

/// A word that is short unless somebody means harm.
std::string limited(std::string_view text) {
  return std::string(text.substr(0, 256));
}

/// The bytes of a request's body as far as the event has them; nullopt when some are missing.
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

}  // namespace

PageRecorder::PageRecorder(std::string main_session, std::string main_frame)
    : main_session_(std::move(main_session)), main_frame_(std::move(main_frame)) {}

void PageRecorder::on_event(std::string_view session, std::string_view method,
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
  } else if (auto error = console_error_of(method, params)) {
    add_console_error(std::move(*error));
  }
}

void PageRecorder::on_network_event(std::string_view session, std::string_view event,
                                    const json::object& params) {
  double const at_s = number_at(params, "timestamp", -1);
  if (event == "requestWillBeSent") {
    on_request(session, params);
  } else if (event.starts_with("webSocket")) {
    on_web_socket(session, event, params);
  } else if (event == "responseReceivedExtraInfo") {
    // Comes before or after the event it belongs to, once for each hop that reached the network.
    if (wire_statuses_.size() < kRequestsMax) {
      auto& statuses = wire_statuses_[std::string(text_at(params, "requestId"))];
      if (statuses.size() < 64) {
        statuses.push_back(static_cast<int>(integer_at(params, "statusCode")));
      }
    }
  } else if (Entry* const entry = find(session, params)) {
    if (event == "responseReceived") {
      auto const& response = object_at(params, "response");
      apply_response(*entry, response);
      entry->has_extra_info = flag_at(params, "hasExtraInfo");
      if (entry->response_s < 0) entry->response_s = at_s;
      // Without a response the only bytes are those of the browser's own error page.
    } else if (event == "dataReceived" && entry->request.status != 0) {
      entry->data_bytes += integer_at(params, "dataLength");
      entry->request.encoded_bytes += integer_at(params, "encodedDataLength");
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

void PageRecorder::on_request(std::string_view session, const json::object& params) {
  auto const& request = object_at(params, "request");
  auto const type = text_at(params, "type");
  double const at_s = number_at(params, "timestamp", -1);
  if (start_s_ < 0 && type == "Document" && text_at(params, "frameId") == main_frame_) {
    start_s_ = at_s;
  }
  if (Entry* const before = find(session, params)) {
    // The same request may be reported by a frame's session and by its parent's.
    if (!params.contains("redirectResponse")) return;
    apply_response(*before, object_at(params, "redirectResponse"));
    before->redirected = true;
    before->has_extra_info = flag_at(params, "redirectHasExtraInfo");
    if (before->response_s < 0) before->response_s = at_s;
    end(*before, at_s, {});
  }
  // A preflight's type is told with the response only.
  bool const preflight = text_at(object_at(params, "initiator"), "type") == "preflight";
  Entry* const entry = begin(session, text_at(params, "requestId"), text_at(request, "url"),
                             preflight ? "Preflight" : type);
  if (entry == nullptr) return;
  entry->start_s = at_s;
  entry->frame = text_at(params, "frameId");
  entry->loader = text_at(params, "loaderId");
  entry->request.method = limited(text_at(request, "method"));
  if (flag_at(request, "hasPostData")) {
    auto const bytes = posted_bytes(request);
    entry->request_body_missing = !bytes;
    if (bytes) entry->request.request_body_sha256 = sha256_hex(*bytes);
  }
}

void PageRecorder::on_web_socket(std::string_view session, std::string_view event,
                                 const json::object& params) {
  if (event == "webSocketCreated") {
    auto* const entry =
        begin(session, text_at(params, "requestId"), text_at(params, "url"), "WebSocket");
    if (entry != nullptr) entry->request.method = "GET";
    return;
  }
  Entry* const entry = find(session, params);
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

void PageRecorder::on_page_event(std::string_view session, std::string_view event,
                                 const json::object& params) {
  double const at_s = number_at(params, "timestamp", -1);
  if (event == "frameNavigated") {
    on_frame_navigated(session, object_at(params, "frame"));
  } else if (event == "frameDetached" && text_at(params, "reason") == "remove") {
    auto const gone = text_at(params, "frameId");
    abort_requests([gone](const Entry& e) { return e.frame == gone; },
                   "net::ERR_ABORTED (its frame went away)");
  } else if (session != main_session_ || !page_.committed) {
    return;  // what follows is told of the page itself, and once it is no longer about:blank
  } else if (event == "navigatedWithinDocument" && text_at(params, "frameId") == main_frame_) {
    page_.url = text_at(params, "url");
  } else if (event == "domContentEventFired") {
    page_.dom_content_loaded_s = at_s;
  } else if (event == "loadEventFired") {
    page_.load_event_s = at_s;
    ++activity_;
  } else if (event == "lifecycleEvent" && text_at(params, "name") == "firstContentfulPaint" &&
             text_at(params, "loaderId") == page_.loader) {
    page_.first_contentful_paint_s = at_s;
  }
}

void PageRecorder::on_frame_navigated(std::string_view session, const json::object& frame) {
  auto const id = text_at(frame, "id");
  auto const loader = text_at(frame, "loaderId");
  // The renderer that is left behind does not always tell how its requests ended.
  abort_requests([&](const Entry& e) { return e.frame == id && e.loader != loader; },
                 "net::ERR_ABORTED (its page was left)");
  if (session != main_session_ || id != main_frame_) return;
  page_ =
      Page{.committed = true,
           .url = std::string(text_at(frame, "url")) + std::string(text_at(frame, "urlFragment")),
           .loader = std::string(loader),
           .unreachable_url = std::string(text_at(frame, "unreachableUrl"))};
  ++activity_;
}

PageRecorder::Entry* PageRecorder::begin(std::string_view session, std::string_view id,
                                         std::string_view url, std::string_view type) {
  if (!starts_with_any(url, {"http://", "https://", "ws://", "wss://"})) {
    current_.erase(std::string(id));
    return nullptr;
  }
  text_bytes_ += url.size() + id.size();
  if (entries_.size() >= kRequestsMax || text_bytes_ > kTextBytesMax) {
    current_.erase(std::string(id));
    ++requests_not_kept_;
    return nullptr;
  }
  current_[std::string(id)] = entries_.size();
  Entry& entry = entries_.emplace_back();
  entry.id = id;
  entry.session = session;
  entry.request.url = url;
  entry.request.resource_type = type;
  if (!may_stay_open(type)) ++in_flight_;
  ++activity_;
  return &entry;
}

void PageRecorder::end(Entry& entry, double at_s, std::string_view failure) {
  bool const was_aborted = !entry.in_flight && entry.end_s < 0;  // by us; this is the true end
  if (!entry.in_flight && !was_aborted) return;
  entry.end_s = at_s;
  entry.request.failure = limited(failure);
  if (was_aborted) return;
  entry.in_flight = false;
  if (!may_stay_open(entry.request.resource_type)) --in_flight_;
  ++activity_;
}

template <class Which>
void PageRecorder::abort_requests(Which&& which, std::string_view why) {
  for (Entry& entry : entries_) {
    if (entry.in_flight && which(entry)) end(entry, -1, why);
  }
}

void PageRecorder::apply_response(Entry& entry, const json::object& response) {
  PageRequest& request = entry.request;
  request.status = static_cast<int>(integer_at(response, "status"));
  request.protocol = limited(text_at(response, "protocol"));
  request.mime_type = limited(text_at(response, "mimeType"));
  if (auto const address = text_at(response, "remoteIPAddress"); !address.empty()) {
    request.remote_address =
        std::string(address) + ":" + std::to_string(integer_at(response, "remotePort"));
  }
  request.from_cache = request.from_cache || flag_at(response, "fromDiskCache") ||
                       flag_at(response, "fromPrefetchCache");
  request.encoded_bytes = integer_at(response, "encodedDataLength");
  // The network's own time is not delayed by a busy page. A cached response shows the times of the
  // request that filled the cache.
  auto const& timing = object_at(response, "timing");
  double const head_s =
      number_at(timing, "requestTime", -1) + number_at(timing, "receiveHeadersEnd") / 1000;
  if (!request.from_cache && head_s >= entry.start_s) entry.response_s = head_s;
}

PageRecorder::Entry* PageRecorder::find(std::string_view session, const json::object& params) {
  auto const found = current_.find(std::string(text_at(params, "requestId")));
  if (found == current_.end()) return nullptr;
  Entry& entry = entries_[found->second];
  entry.session = session;
  return &entry;
}

void PageRecorder::add_console_error(std::string text) {
  if (console_errors_.size() >= kConsoleErrorsMax) {
    ++console_errors_not_kept_;
    return;
  }
  if (text.size() > kConsoleErrorBytesMax) {
    // Not inside a UTF-8 sequence.
    std::size_t size = kConsoleErrorBytesMax;
    while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80) --size;
    text.resize(size);
    text += "...";
  }
  console_errors_.push_back(std::move(text));
}

std::string PageRecorder::document_failure() const {
  for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry) {
    if (entry->frame == main_frame_ && entry->request.resource_type == "Document") {
      return entry->request.failure;
    }
  }
  return {};
}

std::string PageRecorder::first_in_flight() const {
  for (Entry const& entry : entries_) {
    if (entry.in_flight && !may_stay_open(entry.request.resource_type)) return entry.request.url;
  }
  return {};
}

std::vector<PageRecorder::BodyName> PageRecorder::bodies() const {
  std::vector<BodyName> out;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    Entry const& e = entries_[i];
    bool const ended_well = !e.in_flight && e.end_s >= 0 && e.request.failure.empty();
    bool const has_body = !e.redirected && e.request.method != "HEAD" && e.request.status != 204 &&
                          e.request.status != 0 &&
                          !is_any_of(e.request.resource_type, {"Preflight", "WebSocket"});
    if (ended_well && has_body) out.push_back({i, e.session, e.id, e.data_bytes});
  }
  return out;
}

std::vector<PageRecorder::BodyName> PageRecorder::request_bodies() const {
  std::vector<BodyName> out;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    Entry const& e = entries_[i];
    if (e.request_body_missing && !e.redirected) out.push_back({i, e.session, e.id, 0});
  }
  return out;
}

PageLoad PageRecorder::page_load() const {
  auto const since_start = [this](double at_s) {
    return at_s < 0 || start_s_ < 0 ? -1 : (at_s - start_s_) * 1000;
  };
  PageLoad load;
  load.final_url = page_.url;
  load.dom_content_loaded_ms = since_start(page_.dom_content_loaded_s);
  load.load_event_ms = since_start(page_.load_event_s);
  load.first_contentful_paint_ms = since_start(page_.first_contentful_paint_s);
  std::unordered_map<std::string, std::size_t> hops;
  for (Entry const& entry : entries_) {
    PageRequest& request = load.requests.emplace_back(entry.request);
    request.start_ms = since_start(entry.start_s);
    request.response_ms = since_start(entry.response_s);
    request.end_ms = since_start(entry.end_s);
    // A busy page hears late of what the cache gave at once.
    if (entry.end_s >= 0) request.response_ms = std::min(request.response_ms, request.end_ms);
    if (entry.end_s >= 0) load.last_resource_ms = std::max(load.last_resource_ms, request.end_ms);
    // A cached answer that was revalidated shows the status of the cached one.
    if (auto const wire = wire_statuses_.find(entry.id);
        entry.has_extra_info && wire != wire_statuses_.end()) {
      std::size_t const hop = hops[entry.id]++;
      if (hop < wire->second.size()) request.status = wire->second[hop];
    }
  }
  load.console_errors = console_errors_;
  load.requests_not_kept = requests_not_kept_;
  if (console_errors_not_kept_ > 0) {
    load.remarks.push_back(std::to_string(console_errors_not_kept_) +
                           " further console errors were not kept.");
  }
  if (requests_not_kept_ > 0) {
    load.remarks.push_back(std::to_string(requests_not_kept_) +
                           " further requests were not kept: the page made too many.");
  }
  return load;
}

}  // namespace reprise
