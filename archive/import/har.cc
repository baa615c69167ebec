#include "archive/import/har.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "archive/import/har_content.h"
#include "archive/import/har_messages.h"
#include "archive/import/json_reader.h"

namespace reprise::importing {
namespace {

constexpr std::size_t kTextBytesMax = 1 << 20;
constexpr double kMillisecond = 1e6;

/// One entry while it is read.
struct Entry {
  ExchangeDraft draft;
  std::string url;
  std::string port;
  std::string error;
  std::string outcome;
  bool from_cache = false;
  bool has_fields = false;  ///< of the response: some tools write its content before them
  double timings[6] = {-1, -1, -1, -1, -1, -1};  ///< as kTimings names them
  double content_bytes = 0;
  double body_bytes = 0;  ///< of the response, as it travelled
};
constexpr std::string_view kTimings[6] = {"blocked", "dns", "connect", "send", "wait", "receive"};

class HarReader {
 public:
  HarReader(ByteReader& from, const Attachments& attachments, Collector& collector)
      : json_(from), attachments_(attachments), collector_(collector) {}

  void read();

 private:
  void read_log();
  void read_pages();
  std::string read_tool();
  void read_entry();
  void read_request(Entry& entry);
  void read_post_data(Entry& entry);
  void read_response(Entry& entry);
  void read_content(Entry& entry);
  void read_timings(Entry& entry);
  Fields read_fields();
  void read_messages(Entry& entry);
  void settle_body(Entry& entry, std::optional<FoundBody> body, bool is_named);
  void add(Entry& entry);

  JsonReader json_;
  const Attachments& attachments_;
  Collector& collector_;
  std::string tool_;
  std::vector<std::string> pages_;
  UnixTime started_;
};

void HarReader::read() {
  std::string name;
  if (!json_.enter_object()) return;
  while (json_.next_member(name)) {
    if (name == "log") {
      read_log();
    } else {
      json_.skip();
    }
    if (collector_.failed()) return;
  }
  json_.end();
}

void HarReader::read_log() {
  std::string name;
  if (json_.peek() != JsonKind::kObject) return collector_.fail("its log is no object");
  json_.enter_object();
  bool any = false;
  while (json_.next_member(name)) {
    if (name == "creator" || name == "browser") {
      auto const tool = read_tool();
      tool_ += (tool_.empty() || tool.empty() ? "" : ", ") + tool;
    } else if (name == "pages") {
      read_pages();
    } else if (name == "_started") {
      // Our own export says when the session began, and not only its first request.
      if (auto const time = parse_time(json_.text(kTextBytesMax))) started_ = time;
    } else if (name == "entries" && json_.enter_array()) {
      any = true;
      while (json_.next_element()) {
        read_entry();
        if (collector_.failed()) return;
      }
    } else if (name != "entries") {
      json_.skip();
    }
  }
  if (!any && !json_.failed()) collector_.fail("it has no list of entries");
}

std::string HarReader::read_tool() {
  std::string tool;
  std::string version;
  std::string name;
  if (!json_.enter_object()) return {};
  while (json_.next_member(name)) {
    if (name == "name") {
      tool = json_.text(kTextBytesMax).substr(0, 100);
    } else if (name == "version") {
      version = json_.text(kTextBytesMax).substr(0, 100);
    } else {
      json_.skip();
    }
  }
  return tool + (version.empty() ? "" : " " + version);
}

void HarReader::read_pages() {
  std::string name;
  if (!json_.enter_array()) return;
  while (json_.next_element()) {
    if (!json_.enter_object()) continue;
    while (json_.next_member(name)) {
      if (name == "title") {
        // Chrome's and Safari's are the URLs, others' are titles.
        auto title = json_.text(kTextBytesMax);
        if (parse_url(title) && pages_.size() < 1024) pages_.push_back(std::move(title));
      } else if (name == "startedDateTime") {
        auto const time = parse_time(json_.text(kTextBytesMax));
        if (time && (!started_ || *time < *started_)) started_ = time;
      } else {
        json_.skip();
      }
    }
  }
}

void HarReader::read_entry() {
  Entry entry;
  std::string name;
  if (!json_.enter_object()) return;
  auto& draft = entry.draft;
  while (json_.next_member(name) && !collector_.failed()) {
    if (name == "startedDateTime") {
      draft.queued = parse_time(json_.text(kTextBytesMax));
    } else if (name == "request") {
      read_request(entry);
    } else if (name == "response") {
      read_response(entry);
    } else if (name == "timings") {
      read_timings(entry);
    } else if (name == "serverIPAddress") {
      draft.address = json_.text(kTextBytesMax);
    } else if (name == "connection") {
      // Firefox writes the port here.
      auto connection = json_.text(kTextBytesMax);
      if (!tool_.starts_with("Firefox")) draft.connection = std::move(connection);
    } else if (name == "_fromCache") {
      entry.from_cache = !json_.text(kTextBytesMax).empty();
    } else if (name == "_webSocketMessages") {
      read_messages(entry);
    } else {
      json_.skip();
    }
  }
  if (!json_.failed()) add(entry);
}

void HarReader::read_messages(Entry& entry) {
  if (!json_.enter_array()) return;
  while (json_.next_element() && !collector_.failed()) {
    if (auto message = read_har_message(json_)) {
      collector_.take_message(entry.draft, std::move(*message));
    } else {
      ++collector_.report().websocket_messages;
    }
  }
}

void HarReader::read_timings(Entry& entry) {
  std::string name;
  if (!json_.enter_object()) return;
  while (json_.next_member(name)) {
    auto const* const known = std::ranges::find(kTimings, name);
    if (known == std::end(kTimings)) {
      json_.skip();
    } else {
      entry.timings[known - kTimings] = json_.number().value_or(-1);
    }
  }
}

Fields HarReader::read_fields() {
  Fields fields;
  std::string name;
  if (!json_.enter_array()) return fields;
  while (json_.next_element()) {
    Field field;
    if (!json_.enter_object()) continue;
    while (json_.next_member(name)) {
      if (name == "name") {
        field.name = json_.text(kTextBytesMax);
      } else if (name == "value") {
        field.value = json_.text(kTextBytesMax);
      } else {
        json_.skip();
      }
    }
    if (fields.size() < 65'536) fields.push_back(std::move(field));
  }
  return fields;
}

void HarReader::read_request(Entry& entry) {
  std::string name;
  double body_bytes = 0;
  if (!json_.enter_object()) return;
  while (json_.next_member(name) && !collector_.failed()) {
    if (name == "method") {
      entry.draft.method = json_.text(kTextBytesMax);
    } else if (name == "url") {
      entry.url = json_.text(kTextBytesMax);
    } else if (name == "httpVersion") {
      entry.draft.request_version = parse_version(json_.text(kTextBytesMax));
    } else if (name == "headers") {
      entry.draft.request_fields = read_fields();
    } else if (name == "postData") {
      read_post_data(entry);
    } else if (name == "bodySize") {
      body_bytes = json_.number().value_or(0);
    } else {
      json_.skip();
    }
  }
  // A body that is not told cannot be asked for: the request is found without it.
  if (entry.draft.request_body.size_bytes == 0 && body_bytes > 0) {
    entry.draft.request_body_unknown = true;
  }
}

void HarReader::read_post_data(Entry& entry) {
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
      encoding = json_.text(kTextBytesMax);
    } else if (name == "_file") {
      body = read_attachment(collector_, attachments_, json_.text(kTextBytesMax), "");
    } else {
      json_.skip();
    }
  }
  if (text && !body) body = text->finish(equals_ignoring_case(encoding, "base64"));
  if (body) entry.draft.request_body = std::move(body->stored);
}

void HarReader::read_response(Entry& entry) {
  std::string name;
  if (!json_.enter_object()) return;
  auto& draft = entry.draft;
  while (json_.next_member(name) && !collector_.failed()) {
    if (name == "status") {
      auto const status = json_.number().value_or(0);
      draft.status = status >= 100 && status <= 999 ? static_cast<std::uint16_t>(status) : 0;
    } else if (name == "statusText") {
      draft.reason = json_.text(kTextBytesMax);
      std::erase_if(draft.reason, [](char c) { return c == '\r' || c == '\n' || c == '\0'; });
    } else if (name == "httpVersion") {
      draft.version = parse_version(json_.text(kTextBytesMax));
    } else if (name == "headers") {
      draft.fields = read_fields();
      entry.has_fields = true;
    } else if (name == "content") {
      read_content(entry);
    } else if (name == "bodySize") {
      entry.body_bytes = json_.number().value_or(0);
    } else if (name == "_error") {
      entry.error = json_.text(kTextBytesMax).substr(0, 1000);
    } else if (name == "_outcome") {
      entry.outcome = json_.text(kTextBytesMax);
    } else {
      json_.skip();
    }
  }
  if (find_field(draft.fields, "Content-Encoding") == nullptr) draft.body.coding = {};
}

void HarReader::read_content(Entry& entry) {
  auto const* const field = find_field(entry.draft.fields, "Content-Encoding");
  // When what comes first is not known yet, gzip is tried: all others are rare, and decoded.
  auto const coding = !entry.has_fields ? "gzip" : field == nullptr ? "" : *field;
  std::string name;
  std::string encoding;
  std::optional<HarText> text;
  std::optional<FoundBody> body;
  bool is_named = false;
  if (!json_.enter_object()) return;
  while (json_.next_member(name) && !collector_.failed()) {
    if (name == "text") {
      text.emplace(collector_, coding);
      if (!json_.string_pieces([&text](std::string_view piece) { text->append(piece); })) {
        text.reset();
      }
    } else if (name == "encoding") {
      encoding = json_.text(kTextBytesMax);
    } else if (name == "size") {
      entry.content_bytes = json_.number().value_or(0);
    } else if (name == "_file") {
      is_named = true;
      body = read_attachment(collector_, attachments_, json_.text(kTextBytesMax), coding);
    } else {
      json_.skip();
    }
  }
  if (json_.failed() || collector_.failed()) return;
  if (text && !body) {
    is_named = true;
    body = text->finish(equals_ignoring_case(encoding, "base64"));
    if (!body) collector_.report().remark("a body is not in the encoding that it is said to be in");
  }
  settle_body(entry, std::move(body), is_named);
}

/// A HAR's bodies are decoded: a Content-Encoding that does not fit the body is what is left of it.
void HarReader::settle_body(Entry& entry, std::optional<FoundBody> body, bool is_named) {
  auto& found = entry.draft.body;
  if (body) found = std::move(*body);
  if (found.coding == CodingVerdict::kBroken) found.coding = CodingVerdict::kNotCoded;
  bool const is_empty = found.stored.size_bytes == 0;
  auto const expected = std::max(entry.content_bytes, entry.body_bytes);
  found.kept = (body || !is_named) && !(is_empty && expected > 0);
}

void HarReader::add(Entry& entry) {
  auto& draft = entry.draft;
  // ws and wss are the schemes of what begins as http and https.
  if (entry.url.starts_with("ws:") || entry.url.starts_with("wss:")) {
    entry.url.replace(0, 2, "http");
  }
  auto const url = parse_url(entry.url);
  if (!url) {
    ++collector_.report().not_http;
    auto const shown = entry.url.substr(0, 200);
    return collector_.report().remark("left out, since it is no http or https URL: " + shown);
  }
  draft.url = *url;
  if (draft.version == HttpVersion::kUnknown) draft.version = draft.request_version;
  if (draft.status == 0) {
    draft.failure = entry.error.empty() ? "the recording says of no response" : entry.error;
  }
  for (auto const cut : {Outcome::kCutByClient, Outcome::kCutByOrigin}) {
    if (draft.status == 0 || entry.outcome != to_string(cut)) continue;
    draft.outcome = cut;
    draft.failure = entry.error;
  }
  if (entry.from_cache) collector_.report().remark("some responses came from the browser's cache");
  if (draft.queued) {
    double at = 0;
    UnixTime* const points[6] = {nullptr,           nullptr,   nullptr, &draft.request_sent,
                                 &draft.first_byte, &draft.end};
    for (std::size_t i = 0; i < 6; ++i) {
      at += std::clamp(entry.timings[i], 0.0, 1e9) * kMillisecond;
      if (points[i] != nullptr && entry.timings[i] >= 0) {
        *points[i] = *draft.queued + std::llround(at);
      }
    }
    // There was no first byte where there was no response.
    if (draft.status == 0) draft.end = std::exchange(draft.first_byte, std::nullopt);
  }
  collector_.add_pages(std::exchange(pages_, {}));
  auto const started = started_ ? started_ : draft.queued;
  collector_.begin({.started = std::chrono::system_clock::time_point(
                        std::chrono::nanoseconds(started.value_or(0))),
                    .tool_version = "a HAR" + (tool_.empty() ? "" : " by " + tool_)});
  collector_.add(std::move(draft));
}

}  // namespace

void import_har(ByteReader& from, const Attachments& attachments, Collector& collector) {
  HarReader(from, attachments, collector).read();
  if (from.failed()) collector.fail(*from.fault());
}

}  // namespace reprise::importing
