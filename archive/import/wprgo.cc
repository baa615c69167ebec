#include "archive/import/wprgo.h"

#include <algorithm>

#include "archive/import/collect/earliest_date.h"
#include "archive/import/collect/http_message.h"
#include "archive/import/source/json_reader.h"
#include "base/http/h1_parser.h"
#include "base/text/base64.h"

namespace reprise::importing {
namespace {

/// Field names match in any case, as in Go's decoder.
bool is(std::string_view name, std::string_view wanted) {
  return equals_ignoring_case(name, wanted);
}

/// Calls `take` with the URL of each entry, which it takes from `json`, until it returns false.
template <class Take>
void read_entries(JsonReader& json, Take&& take) {
  if (!json.enter_object()) return;
  std::string host;
  std::string url;
  while (json.next_member(host)) {
    if (!json.enter_object()) continue;
    while (json.next_member(url)) {
      if (!json.enter_array()) continue;
      while (json.next_element()) {
        if (!take(url)) return;
      }
    }
  }
}

/// Takes a message in base64. Returns its head, or nothing if that is invalid.
std::string take_head(JsonReader& json) {
  Base64Decoder decoder;
  std::string bytes;
  std::size_t searched = 0;
  std::optional<std::size_t> end;
  bool good = true;
  json.string_pieces([&](std::string_view text) {
    if (!good || end || bytes.size() > HttpMessage::kHeadBytesMax) return;
    good = decoder.append(text, bytes);
    end = find_head_end(bytes, searched, kReturnsMax);
  });
  return bytes.substr(0, end.value_or(0));
}

class WprgoReader {
 public:
  WprgoReader(ByteReader& from, Collector& collector) : json_(from), collector_(collector) {}

  void read();

 private:
  void read_entry(const std::string& url);
  bool read_message(HttpMessage& message, const std::string& url);
  void add(const std::string& url, HttpMessage& request, HttpMessage& response, bool answered);
  void count_messages();

  JsonReader json_;
  bool is_broken_ = false;  // a message of the entry
  Collector& collector_;
};

void WprgoReader::read() {
  if (json_.peek() != JsonKind::kObject) return;
  json_.enter_object();
  std::string name;
  while (json_.next_member(name)) {
    if (is(name, "Requests")) {
      read_entries(json_, [this](const std::string& url) {
        read_entry(url);
        return !collector_.failed();
      });
    } else {
      json_.skip();
    }
  }
  json_.end();
}

void WprgoReader::read_entry(const std::string& url) {
  HttpMessage request(collector_, HttpMessage::Kind::kRequest);
  HttpMessage response(collector_, HttpMessage::Kind::kResponse);
  bool asked = false;
  bool answered = false;
  is_broken_ = false;
  if (!json_.enter_object()) return;
  std::string name;
  while (json_.next_member(name) && !collector_.failed()) {
    if (is(name, "SerializedRequest")) {
      asked = read_message(request, url);
    } else if (is(name, "SerializedResponse")) {
      answered = read_message(response, url);
    } else if (is(name, "WebSocketMessages")) {
      count_messages();
    } else {
      json_.skip();
    }
  }
  if (json_.failed() || collector_.failed() || is_broken_) return;
  if (!asked || !request.finish()) {
    return collector_.damage("the request for " + url +
                             " cannot be read: " + (asked ? request.problem() : "it is missing"));
  }
  // An empty response means a failed request.
  if (answered && !response.finish() && !collector_.failed()) {
    return collector_.damage("the response of " + url + " cannot be read: " + response.problem());
  }
  add(url, request, response, answered);
}

/// Returns whether there was any byte.
bool WprgoReader::read_message(HttpMessage& message, const std::string& url) {
  Base64Decoder decoder;
  std::string bytes;
  bool any = false;
  bool good = true;
  json_.string_pieces([&](std::string_view text) {
    bytes.clear();
    good = good && decoder.append(text, bytes);
    any = any || !bytes.empty();
    message.append(bytes);
  });
  if (!good || !decoder.is_whole()) {
    collector_.damage("a message of " + url + " is not base64");
    is_broken_ = true;
  }
  return any;
}

void WprgoReader::count_messages() {
  if (!json_.enter_array()) return;
  while (json_.next_element()) {
    ++collector_.report().websocket_messages;
    json_.skip();
  }
}

void WprgoReader::add(const std::string& url, HttpMessage& request, HttpMessage& response,
                      bool answered) {
  auto const place = parse_url(url);
  if (!place) {
    ++collector_.report().not_http;
    return collector_.report().remark("skipped: not an http or https URL: " + url);
  }
  ExchangeDraft draft{.url = *place};
  auto const& target = request.request().target;
  if (target.starts_with('/') || target == "*") draft.url.target = clean_target(target);
  request.take_request(draft);
  // Added by the tool, for a client that had sent none.
  if (auto const* accepted = find_field(draft.request_fields, "Accept-Encoding");
      accepted != nullptr && accepted->empty()) {
    remove_fields(draft.request_fields, "Accept-Encoding");
  }
  if (answered) {
    response.take_response(draft);
    auto const* const connection = find_field(draft.fields, "Connection");
    // The tool adds "close" to responses without a length; h2 never sends it, and the collector
    // drops it there.
    if (connection != nullptr && equals_ignoring_case(*connection, "close") &&
        find_field(draft.fields, "Content-Length") == nullptr &&
        find_field(draft.fields, "Transfer-Encoding") == nullptr) {
      remove_fields(draft.fields, "Connection");
    }
  } else {
    draft.failure = "the recording contains no response";
  }
  // The tool writes every request as HTTP/1.1; the response has the real protocol.
  draft.request_version = draft.version;
  collector_.add(std::move(draft));
}

}  // namespace

UnixTime find_wprgo_start(ByteReader& from) {
  constexpr double kMillisecondsMax = 7e12;  // the year 2191
  JsonReader json(from);
  if (json.peek() != JsonKind::kObject || !json.enter_object()) return std::nullopt;
  UnixTime started;
  std::string name;
  while (json.next_member(name)) {
    if (!is(name, "DeterministicTimeSeedMs")) {
      json.skip();
      continue;
    }
    auto const milliseconds = json.number().value_or(0);
    if (milliseconds >= 1 && milliseconds < kMillisecondsMax) {
      started = static_cast<std::int64_t>(milliseconds) * 1'000'000;
    }
  }
  return started;
}

UnixTime find_wprgo_date(ByteReader& from) {
  JsonReader json(from);
  EarliestDate date;
  std::string name;
  auto const take_entry = [&json, &date](const std::string& /*url*/) {
    std::string member;
    if (!json.enter_object()) return true;
    while (json.next_member(member)) {
      if (is(member, "SerializedResponse")) {
        date.take(parse_head(take_head(json)).fields);
      } else {
        json.skip();
      }
    }
    return true;
  };
  if (json.peek() != JsonKind::kObject || !json.enter_object()) return std::nullopt;
  while (json.next_member(name)) {
    if (is(name, "Requests")) {
      read_entries(json, take_entry);
    } else {
      json.skip();
    }
  }
  return date.get();
}

void import_wprgo(ByteReader& from, UnixTime started, Collector& collector) {
  collector.begin({.started = std::chrono::system_clock::time_point(
                       std::chrono::nanoseconds(started.value_or(0))),
                   .tool_version = "a Web Page Replay archive"});
  WprgoReader(from, collector).read();
  if (from.failed()) collector.damage(*from.fault());
}

}  // namespace reprise::importing
