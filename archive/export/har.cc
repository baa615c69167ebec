// HAR 1.2 (http://www.softwareishard.com/blog/har-12-spec/), one entry per line. Our own members
// begin with "_", as the format requires.

#include <algorithm>

#include "archive/export/body_text.h"
#include "archive/export/har_messages.h"
#include "archive/export/har_times.h"
#include "archive/export/message.h"
#include "base/http/resource_type.h"

namespace reprise::exporting {
namespace {

constexpr const char* kPageId = "page_1";

std::string_view version_text(HttpVersion version) {
  if (version == HttpVersion::kH2) return "HTTP/2";
  if (version == HttpVersion::kH3) return "HTTP/3";
  return to_string(version);
}

class HarWriter {
 public:
  HarWriter(Job& job, Output& to) : job_(job), to_(to), json_(to) {}
  void write();

 private:
  void member(std::string_view key, std::string_view text);
  void member(std::string_view key, std::int64_t number);
  void pair(std::string_view name, std::string_view value);
  void write_pages();
  void write_entry(const Exchange& exchange);
  void write_fields(const Headers& headers);
  void write_cookies(const Headers& headers, std::string_view name);
  void write_query(std::string_view target);
  void write_request(const Exchange& exchange);
  void write_post_data(const StoredRequest& request);
  void write_response(const Exchange& exchange);
  void write_content(const Exchange& exchange);
  void write_timings(const Exchange& exchange, const HarTimes& times);
  void count(const Exchange& exchange);

  Job& job_;
  Output& to_;
  JsonWriter json_;
};

void HarWriter::member(std::string_view key, std::string_view text) {
  json_.key(key);
  if (!json_.text(text)) job_.report().lose(Loss::kText);
}

void HarWriter::member(std::string_view key, std::int64_t number) {
  json_.key(key);
  json_.number(number);
}

void HarWriter::pair(std::string_view name, std::string_view value) {
  json_.begin_object();
  member("name", name);
  member("value", value);
  json_.end_object();
}

void HarWriter::write() {
  json_.begin_object();
  json_.key("log");
  json_.begin_object();
  member("version", "1.2");
  json_.key("creator");
  json_.begin_object();
  member("name", "reprise");
  member("version", REPRISE_VERSION);
  json_.end_object();
  member("_started", time_text(job_.session_start()));
  write_pages();
  json_.key("entries");
  json_.begin_array();
  for (std::size_t i = 0; i < job_.size() && !to_.error(); ++i) {
    auto const exchange = job_.read(i);
    if (!exchange) return;
    if (is_writable(*exchange)) {
      write_entry(*exchange);
    } else {
      job_.report().lose(Loss::kUnwritable);
    }
    if (job_.failed()) return;
  }
  json_.end_array();
  json_.end_object();
  json_.end_object();
  to_.write("\n");
}

/// Our pages are start URLs; in Chrome's and Safari's HARs the title of a page is its URL.
void HarWriter::write_pages() {
  json_.key("pages");
  json_.begin_array();
  int number = 0;
  for (const std::string& page : job_.session().pages) {
    json_.begin_object();
    member("startedDateTime", time_text(job_.session_start()));
    member("id", "page_" + std::to_string(++number));
    member("title", page);
    json_.key("pageTimings");
    json_.raw("{}");
    json_.end_object();
  }
  json_.end_array();
}

void HarWriter::write_fields(const Headers& headers) {
  json_.key("headers");
  json_.begin_array();
  for (const HeaderView& field : headers.list()) pair(field.name, field.value);
  json_.end_array();
}

/// Only names and values; other attributes of a Set-Cookie are in its header.
void HarWriter::write_cookies(const Headers& headers, std::string_view name) {
  json_.key("cookies");
  json_.begin_array();
  for (const HeaderView& field : headers.list()) {
    if (!equals_ignoring_case(field.name, name)) continue;
    auto rest = field.value;
    do {
      auto cookie = rest.substr(0, rest.find(';'));
      rest.remove_prefix(std::min(cookie.size() + 1, rest.size()));
      while (cookie.starts_with(' ')) cookie.remove_prefix(1);
      auto const equals = std::min(cookie.find('='), cookie.size());
      json_.begin_object();
      json_.key("name");
      json_.text(cookie.substr(0, equals));
      json_.key("value");
      json_.text(cookie.substr(std::min(equals + 1, cookie.size())));
      json_.end_object();
    } while (!rest.empty() && name == "Cookie");
  }
  json_.end_array();
}

/// As sent, not decoded.
void HarWriter::write_query(std::string_view target) {
  json_.key("queryString");
  json_.begin_array();
  auto const mark = target.find('?');
  auto query = mark == std::string_view::npos ? std::string_view() : target.substr(mark + 1);
  while (!query.empty()) {
    auto const item = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(item.size() + 1, query.size()));
    auto const equals = std::min(item.find('='), item.size());
    json_.begin_object();
    json_.key("name");
    json_.text(item.substr(0, equals));
    json_.key("value");
    json_.text(item.substr(std::min(equals + 1, item.size())));
    json_.end_object();
  }
  json_.end_array();
}

void HarWriter::write_request(const Exchange& exchange) {
  auto const& request = exchange.request;
  json_.key("request");
  json_.begin_object();
  member("method", method_of(request));
  // A WebSocket has its own scheme: ws, wss.
  auto const url = safe_url(request);
  member("url", opens_web_socket(exchange) ? "ws" + url.substr(4) : url);
  member("httpVersion", version_text(request.version));
  write_cookies(request.headers, "Cookie");
  write_fields(request.headers);
  write_query(request.target);
  member("headersSize", -1);
  // For a partial body only its existence is written.
  auto const size_bytes = static_cast<std::int64_t>(request.body.size_bytes);
  member("bodySize", request.body_partial ? std::max<std::int64_t>(size_bytes, 1) : size_bytes);
  if (request.body_partial) {
    job_.report().lose(Loss::kPartialRequest);
  } else if (size_bytes > 0) {
    write_post_data(request);
  }
  json_.end_object();
}

void HarWriter::write_post_data(const StoredRequest& request) {
  auto const form = survey_body(job_, {}, request.body);
  json_.key("postData");
  json_.begin_object();
  member("mimeType", find_header(request.headers.list(), "Content-Type").value_or(""));
  json_.key("params");
  json_.raw("[]");
  write_body_text(job_, {}, request.body, form, json_);
  json_.end_object();
}

void HarWriter::write_response(const Exchange& exchange) {
  auto const& response = exchange.response;
  json_.key("response");
  json_.begin_object();
  member("status", response.status);
  member("statusText", response.reason);
  member("httpVersion", version_text(response.version));
  write_cookies(response.headers, "Set-Cookie");
  write_fields(response.headers);
  write_content(exchange);
  member("redirectURL", find_header(response.headers.list(), "Location").value_or(""));
  member("headersSize", -1);
  member("bodySize", static_cast<std::int64_t>(response.body.size_bytes));
  if (exchange.outcome != Outcome::kComplete) {
    member("_error", exchange.failure.empty() ? to_string(exchange.outcome) : exchange.failure);
    member("_outcome", to_string(exchange.outcome));
  }
  json_.end_object();
}

void HarWriter::write_content(const Exchange& exchange) {
  auto const& response = exchange.response;
  auto const form = survey_body(job_, response.headers, response.body);
  auto& report = job_.report();
  if (form.decoded) report.lose(Loss::kDecoded);
  if (form.broken) report.lose(Loss::kNotDecoded);
  json_.key("content");
  json_.begin_object();
  member("size", static_cast<std::int64_t>(form.size_bytes));
  if (form.decoded) {
    member("compression", static_cast<std::int64_t>(form.size_bytes) -
                              static_cast<std::int64_t>(response.body.size_bytes));
  }
  auto const type = find_header(response.headers.list(), "Content-Type");
  member("mimeType", type.value_or("x-unknown"));
  if (response.body.size_bytes > 0 && !job_.failed()) {
    write_body_text(job_, response.headers, response.body, form, json_);
  }
  json_.end_object();
}

void HarWriter::write_timings(const Exchange& exchange, const HarTimes& times) {
  json_.key("time");
  json_.raw(milliseconds_text(times.total()));
  json_.key("timings");
  json_.begin_object();
  for (std::size_t i = 0; i < HarTimes::kNames.size(); ++i) {
    json_.key(HarTimes::kNames[i]);
    json_.raw(times.spans[i] ? milliseconds_text(*times.spans[i]) : "-1");
  }
  json_.end_object();
  auto const* const facts = job_.connection_of(exchange);
  if (auto const address = address_of(facts); !address.empty()) member("serverIPAddress", address);
  if (facts != nullptr) member("connection", std::to_string(facts->id));
}

void HarWriter::write_entry(const Exchange& exchange) {
  count(exchange);
  to_.write("\n");
  auto const times = har_times(exchange, job_.connection_of(exchange));
  auto const started = job_.unix_time(exchange.timings.queued).value_or(job_.session_start());
  json_.begin_object();
  if (job_.session().pages.size() == 1) member("pageref", kPageId);
  member("startedDateTime", time_text(started));
  write_request(exchange);
  write_response(exchange);
  json_.key("cache");
  json_.raw("{}");
  write_timings(exchange, times);
  // In lower case, as in Chrome's HARs.
  if (auto const type = resource_type(exchange); type != ResourceType::kOther) {
    member("_resourceType", lower_case(devtools_name(type)));
  }
  if (opens_web_socket(exchange)) write_har_messages(job_, exchange, json_);
  json_.end_object();
}

void HarWriter::count(const Exchange& exchange) {
  job_.count(exchange);
  auto& report = job_.report();
  for (auto const* trailers : {&exchange.request.trailers, &exchange.response.trailers}) {
    if (!trailers->empty()) report.lose(Loss::kTrailers);
  }
  if (exchange.timings.queued == kNoTime) report.lose(Loss::kStartAssumed);
  if (!exchange.request.target.starts_with('/')) report.lose(Loss::kTargets);
}

}  // namespace

void write_har(Job& job, Output& to) {
  HarWriter(job, to).write();
}

}  // namespace reprise::exporting
