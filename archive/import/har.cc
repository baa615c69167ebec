#include "archive/import/har.h"

#include <algorithm>
#include <utility>

#include "archive/import/har_charset.h"
#include "archive/import/har_content.h"
#include "archive/import/har_entry.h"
#include "archive/import/har_messages.h"
#include "archive/import/har_text.h"
#include "archive/import/source/json_reader.h"

namespace reprise::importing {
namespace {

class HarReader {
 public:
  HarReader(ByteReader& from, HarFacts facts, AttachmentReader& attachments, Collector& collector)
      : json_(from), facts_(std::move(facts)), attachments_(attachments), collector_(collector) {}

  void read();

 private:
  void read_log();
  void read_entry();
  void read_request(HarEntry& entry);
  void read_post_data(HarEntry& entry);
  void read_response(HarEntry& entry);
  void read_content(HarEntry& entry);
  void read_timings(HarEntry& entry);
  void read_messages(HarEntry& entry);
  std::string read_text() { return read_har_text(json_, collector_.report()); }
  bool is_ours() const { return facts_.tool.starts_with("reprise"); }
  void add(HarEntry& entry);

  JsonReader json_;
  HarFacts facts_;
  AttachmentReader& attachments_;
  Collector& collector_;
  std::uint64_t entries_ = 0;
};

void HarReader::read() {
  std::string name;
  bool has_log = false;
  if (json_.enter_object()) {
    while (json_.next_member(name)) {
      if (name == "log") {
        has_log = true;
        read_log();
      } else {
        json_.skip();
      }
      if (collector_.failed()) return;
    }
  }
  json_.end();
  if (!has_log && !json_.failed()) collector_.damage("the member 'log' is missing");
}

void HarReader::read_log() {
  std::string name;
  if (json_.peek() != JsonKind::kObject)
    return collector_.fail("the member 'log' is not an object");
  json_.enter_object();
  bool any = false;
  while (json_.next_member(name)) {
    if (name == "entries" && json_.enter_array()) {
      any = true;
      while (json_.next_element()) {
        read_entry();
        if (collector_.failed()) return;
      }
    } else if (name != "entries") {
      json_.skip();
    }
  }
  if (!any && !json_.failed()) collector_.fail("the list 'entries' is missing");
}

void HarReader::read_entry() {
  ++entries_;
  HarEntry entry;
  entry.by_firefox = facts_.tool.starts_with("Firefox");
  entry.by_playwright = facts_.tool.starts_with("Playwright");
  std::string name;
  if (!json_.enter_object()) return;
  auto& draft = entry.draft;
  while (json_.next_member(name) && !collector_.failed()) {
    if (name == "startedDateTime") {
      draft.queued = parse_time(read_text());
    } else if (name == "request") {
      read_request(entry);
    } else if (name == "response") {
      read_response(entry);
    } else if (name == "time") {
      entry.time = json_.number().value_or(-1);
    } else if (name == "timings") {
      read_timings(entry);
    } else if (name == "serverIPAddress") {
      draft.address = read_text();
    } else if (name == "connection") {
      // Firefox writes the port here.
      auto connection = read_text();
      if (!entry.by_firefox) draft.connection = std::move(connection);
    } else if (name == "_connectionId") {
      entry.connection_id = read_text();
    } else if (name == "_fromCache") {
      auto const cache = read_text();
      entry.from_cache = !cache.empty() && cache != "false";
    } else if (name == "_webSocketMessages") {
      read_messages(entry);
    } else {
      json_.skip();
    }
  }
  if (!json_.failed()) add(entry);
}

void HarReader::read_messages(HarEntry& entry) {
  if (!json_.enter_array()) return;
  while (json_.next_element() && !collector_.failed()) {
    if (auto message = read_har_message(json_)) {
      collector_.take_message(entry.draft, std::move(*message));
    } else {
      ++collector_.report().websocket_messages;
    }
  }
}

void HarReader::read_timings(HarEntry& entry) {
  std::string name;
  if (!json_.enter_object()) return;
  while (json_.next_member(name)) {
    auto const* const known = std::ranges::find(kHarTimings, name);
    if (known == kHarTimings.end()) {
      json_.skip();
    } else {
      entry.timings[static_cast<std::size_t>(known - kHarTimings.begin())] =
          json_.number().value_or(-1);
    }
  }
}

void HarReader::read_request(HarEntry& entry) {
  std::string name;
  double body_bytes = 0;
  if (!json_.enter_object()) return;
  while (json_.next_member(name) && !collector_.failed()) {
    if (name == "method") {
      entry.draft.method = read_text();
    } else if (name == "url") {
      entry.url = json_.text_up_to(kHarTextBytesMax, entry.is_url_cut);
    } else if (name == "httpVersion") {
      entry.draft.request_version = parse_version(read_text());
    } else if (name == "headers") {
      entry.draft.request_fields = read_har_fields(json_, collector_.report());
    } else if (name == "postData") {
      read_post_data(entry);
    } else if (name == "bodySize") {
      body_bytes = json_.number().value_or(0);
    } else {
      json_.skip();
    }
  }
  // A body that is not in the recording cannot be matched: the request is found without it.
  auto& draft = entry.draft;
  bool const had_body =
      draft.request_body_unknown || body_bytes > 0 || announces_content(draft.request_fields);
  draft.request_body_unknown = had_body && draft.request_body.size_bytes == 0;
}

void HarReader::read_post_data(HarEntry& entry) {
  std::string name;
  std::string encoding;
  std::optional<HarText> text;
  std::optional<FoundBody> body;
  if (!json_.enter_object()) return;
  while (json_.next_member(name) && !collector_.failed()) {
    if (name == "text") {
      text.emplace(collector_, "");
      json_.string_pieces([&text](std::string_view piece) { text->append(piece); });
    } else if (name == "encoding") {
      encoding = read_text();
    } else if (name == "_file") {
      body = attachments_.read(read_text(), "");
    } else if (name == "params" && json_.enter_array()) {
      while (json_.next_element()) {
        json_.skip();
        entry.draft.request_body_unknown = true;  // unless there is a text, too
      }
    } else if (name != "params") {
      json_.skip();
    }
  }
  if (text && !body) body = text->finish(equals_ignoring_case(encoding, "base64"));
  if (body) entry.draft.request_body = std::move(body->stored);
}

void HarReader::read_response(HarEntry& entry) {
  std::string name;
  if (!json_.enter_object()) return;
  auto& draft = entry.draft;
  while (json_.next_member(name) && !collector_.failed()) {
    if (name == "status") {
      auto const status = json_.number().value_or(0);
      draft.status = status >= 100 && status <= 999 ? static_cast<std::uint16_t>(status) : 0;
    } else if (name == "statusText") {
      draft.reason = read_text();
      std::erase_if(draft.reason, [](char c) { return c == '\r' || c == '\n' || c == '\0'; });
    } else if (name == "httpVersion") {
      draft.version = parse_version(read_text());
    } else if (name == "headers") {
      draft.fields = read_har_fields(json_, collector_.report());
      entry.has_fields = true;
    } else if (name == "content") {
      read_content(entry);
    } else if (name == "bodySize") {
      entry.body_bytes = json_.number().value_or(-1);
    } else if (name == "_error") {
      bool is_cut = false;
      entry.error = json_.text_up_to(1000, is_cut);
    } else if (name == "_outcome") {
      entry.outcome = read_text();
    } else {
      json_.skip();
    }
  }
  if (find_field(draft.fields, "Content-Encoding") == nullptr) draft.body.coding = {};
}

void HarReader::read_content(HarEntry& entry) {
  auto const* const field = find_field(entry.draft.fields, "Content-Encoding");
  // If the coding is not known yet, try gzip: others are rare, and come decoded.
  auto const coding = !entry.has_fields ? "gzip" : field == nullptr ? "" : *field;
  std::string name;
  std::string encoding;
  std::optional<HarText> text;
  std::optional<FoundBody> body;
  if (!json_.enter_object()) return;
  while (json_.next_member(name) && !collector_.failed()) {
    if (name == "text") {
      text.emplace(collector_, coding);
      if (!json_.string_pieces([&text](std::string_view piece) { text->append(piece); })) {
        text.reset();
      }
    } else if (name == "encoding") {
      encoding = read_text();
    } else if (name == "size") {
      entry.content_bytes = json_.number().value_or(-1);
    } else if (name == "compression") {
      entry.was_decoded = json_.number().has_value();
    } else if (name == "_file") {
      body = attachments_.read(read_text(), coding);
      entry.lost_text = !body;
    } else {
      json_.skip();
    }
  }
  if (json_.failed() || collector_.failed()) return;
  if (text && !body) {
    body = text->finish(equals_ignoring_case(encoding, "base64"));
    entry.lost_text = !body;
    entry.is_text = body && !equals_ignoring_case(encoding, "base64");
    entry.is_beyond_ascii = body && text->is_beyond_ascii();
    if (!body) collector_.report().remark("a body does not match its declared encoding");
  }
  if (!body) return;
  entry.has_text = true;
  entry.draft.body = std::move(*body);
}

void HarReader::add(HarEntry& entry) {
  auto& draft = entry.draft;
  // A connection by ws or wss begins as http or https.
  if (entry.url.starts_with("ws:") || entry.url.starts_with("wss:")) {
    draft.is_web_socket = true;
    entry.url.replace(0, 2, "http");
  }
  if (entry.url.empty()) {
    return collector_.damage("entry " + std::to_string(entries_) + " before byte " +
                             std::to_string(json_.offset()) + " has no request with a URL");
  }
  auto const url = parse_url(entry.url);
  auto const shown = entry.url.substr(0, 200);
  if (!url) {
    ++collector_.report().not_http;
    return collector_.report().remark("skipped: not an http or https URL: " + shown);
  }
  if (entry.is_url_cut) {
    ++collector_.report().too_large;
    return collector_.report().remark("skipped: the URL is longer than 1 MiB: " + shown);
  }
  draft.url = *url;
  if (draft.version == HttpVersion::kUnknown) draft.version = draft.request_version;
  if (has_no_status_but_all_else(entry)) {
    draft.status = 200;
    ++collector_.report().statuses_assumed;
  }
  settle_coding(entry, is_ours());
  settle_outcome(entry);
  settle_connection(entry, facts_.tool.starts_with("WebInspector"));
  remark_on(entry, collector_.report());
  // Our own export keeps the bytes.
  if (is_transcoded(entry) && !is_ours() && set_charset_utf8(draft.fields)) {
    ++collector_.report().charsets_corrected;
  }
  draft.body.kept = holds_body(entry);
  set_times(entry);
  collector_.add_pages(std::exchange(facts_.pages, {}));
  auto const started = facts_.started ? facts_.started : draft.queued;
  collector_.begin({.started = std::chrono::system_clock::time_point(
                        std::chrono::nanoseconds(started.value_or(0))),
                    .tool_version = "a HAR" + (facts_.tool.empty() ? "" : " by " + facts_.tool)});
  collector_.add(std::move(draft));
}

}  // namespace

void import_har(ByteReader& from, HarFacts facts, AttachmentReader& attachments,
                Collector& collector) {
  HarReader(from, std::move(facts), attachments, collector).read();
  if (from.failed()) collector.damage(*from.fault());
}

}  // namespace reprise::importing
