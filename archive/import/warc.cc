#include "archive/import/warc.h"

#include <charconv>

#include "archive/import/http_message.h"
#include "archive/import/record_block.h"

namespace reprise::importing {
namespace {

constexpr std::size_t kLineBytesMax = 64 << 10;
constexpr std::size_t kHeadBytesMax = 1 << 20;
constexpr std::size_t kInfoBytesMax = 64 << 10;

constexpr std::string_view kStart = "WARC/";

bool is_known_version(std::string_view line) {
  for (std::string_view const known : {"WARC/1.1", "WARC/1.0", "WARC/0.18", "WARC/0.17"}) {
    if (equals_ignoring_case(line, known)) return true;
  }
  return false;
}

class WarcReader {
 public:
  WarcReader(ByteReader& from, Captures& captures, Collector& collector)
      : from_(from), captures_(captures), collector_(collector) {}

  void read() {
    while (!collector_.failed() && read_record()) continue;
  }

 private:
  bool read_record();
  bool read_head();
  bool find_record();
  std::string place() const;
  void read_block(std::uint64_t size_bytes);
  void read_info(RecordBlock& block);
  void read_request(RecordBlock& block);
  void read_response(RecordBlock& block, bool is_revisit);
  void bad(const std::string& what);
  void take_whole(bool whole);
  void note_truncation(ExchangeDraft& draft);
  void note_protocols(ExchangeDraft& draft, HttpVersion& version) const;
  std::string field(std::string_view name) const {
    auto const* const value = find_field(fields_, name);
    return value == nullptr ? "" : *value;
  }
  std::string uri() const;
  Capture capture() const;
  void begin();

  ByteReader& from_;
  Captures& captures_;
  Collector& collector_;
  std::uint64_t number_ = 0;
  std::uint64_t offset_ = 0;
  Fields fields_;
  std::string software_;
  UnixTime started_;
};

void WarcReader::bad(const std::string& what) {
  if (from_.failed()) return collector_.fail(*from_.fault());
  collector_.fail(place() + what);
}

std::string WarcReader::place() const {
  return "record " + std::to_string(number_) + " at byte " + std::to_string(offset_) + ": ";
}

/// "<http://example.org/>" in WARC/1.0.
std::string WarcReader::uri() const {
  auto uri = field("WARC-Target-URI");
  if (uri.size() > 1 && uri.front() == '<' && uri.back() == '>')
    uri = uri.substr(1, uri.size() - 2);
  return uri;
}

Capture WarcReader::capture() const {
  Capture capture{
      .id = field("WARC-Record-ID"), .uri = uri(), .date = parse_time(field("WARC-Date"))};
  for (const Field& each : fields_) {
    if (equals_ignoring_case(each.name, "WARC-Concurrent-To") && capture.concurrent.size() < 16) {
      capture.concurrent.push_back(each.value);
    }
  }
  return capture;
}

/// False at the end of the file.
bool WarcReader::read_record() {
  while (from_.some().starts_with('\r') || from_.some().starts_with('\n')) from_.consume(1);
  if (from_.at_end()) {
    if (from_.failed()) collector_.fail(*from_.fault());
    if (number_ == 0) collector_.fail("it holds no record");
    return false;
  }
  ++number_;
  offset_ = from_.offset();
  if (!read_head()) return false;
  auto const length = field("Content-Length");
  std::uint64_t size_bytes = 0;
  auto const* const end = length.data() + length.size();
  auto const read = std::from_chars(length.data(), end, size_bytes);
  if (length.empty() || read.ec != std::errc() || read.ptr != end) {
    bad(length.empty() ? "its Content-Length is missing" : "its Content-Length is no number");
    return false;
  }
  if (field("WARC-Type").empty()) {
    bad("its WARC-Type is missing");
    return false;
  }
  read_block(size_bytes);
  return !collector_.failed();
}

/// To the next thing that looks like the start of a record. False when there is none.
bool WarcReader::find_record() {
  constexpr std::string_view kMark = "WARC/1.";
  while (true) {
    auto const text = from_.fill(kMark.size());
    if (text.size() < kMark.size()) return false;
    auto const at = text.find(kMark);
    if (at == std::string_view::npos) {
      from_.consume(text.size() - kMark.size() + 1);
      continue;
    }
    from_.consume(at);
    offset_ = from_.offset();
    return true;
  }
}

bool WarcReader::read_head() {
  std::string line;
  if (!equals_ignoring_case(from_.fill(kStart.size()).substr(0, kStart.size()), kStart)) {
    if (!from_.failed()) collector_.damage(place() + "no record begins here");
    if (collector_.failed() || !find_record()) return false;
  }
  if (!from_.line(line, kLineBytesMax) || !is_known_version(line)) {
    bad("an unknown version: " + line.substr(0, 40));
    return false;
  }
  std::string text;
  while (true) {
    line.clear();
    if (!from_.line(line, kLineBytesMax) || text.size() > kHeadBytesMax) {
      bad(text.size() > kHeadBytesMax ? "its head is longer than a megabyte"
                                      : "the file ends inside its head");
      return false;
    }
    if (line.empty()) break;
    text += line + "\n";
  }
  fields_ = parse_fields(text);
  return true;
}

void WarcReader::take_whole(bool whole) {
  if (!whole) bad("the file ends inside it");
}

void WarcReader::read_block(std::uint64_t size_bytes) {
  RecordBlock block(from_, size_bytes);
  auto const is = [type = field("WARC-Type")](std::string_view wanted) {
    return equals_ignoring_case(type, wanted);
  };
  if (is("warcinfo")) return read_info(block);
  bool const is_response = is("response") || is("revisit");
  bool const is_request = is("request");
  if ((!is_response && !is_request) || !parse_url(uri()) || !field("WARC-Segment-Number").empty()) {
    if (is_response) {
      ++collector_.report().not_http;
      auto const what = parse_url(uri()) ? "is in segments" : "is no http or https URL";
      collector_.report().remark("left out, since it " + std::string(what) + ": " +
                                 uri().substr(0, 200));
    } else if (!is_request && !is("metadata")) {
      ++collector_.report().not_http;
    }
    return take_whole(block.skip());
  }
  begin();
  if (is_request) return read_request(block);
  read_response(block, is("revisit"));
}

void WarcReader::begin() {
  auto const date = started_ ? started_ : parse_time(field("WARC-Date"));
  collector_.begin(
      {.started = std::chrono::system_clock::time_point(std::chrono::nanoseconds(date.value_or(0))),
       .tool_version = "a WARC" + (software_.empty() ? "" : " by " + software_)});
}

void WarcReader::read_info(RecordBlock& block) {
  std::string text;
  take_whole(block.read([&text](std::string_view piece) {
    text += piece.substr(0, kInfoBytesMax - std::min(kInfoBytesMax, text.size()));
  }));
  auto const fields = parse_fields(text);
  if (auto const* const software = find_field(fields, "software")) {
    software_ = software->substr(0, 200);
  }
  // Our own export says more.
  if (auto const* const started = find_field(fields, "reprise-started")) {
    started_ = parse_time(*started);
  }
  std::vector<std::string> pages;
  for (const Field& each : fields) {
    if (equals_ignoring_case(each.name, "reprise-page")) pages.push_back(each.value);
  }
  collector_.add_pages(std::move(pages));
}

void WarcReader::read_request(RecordBlock& block) {
  HttpMessage message(collector_, HttpMessage::Kind::kRequest);
  auto const whole = block.read([&message](std::string_view piece) { message.append(piece); });
  if (!whole) return take_whole(false);
  if (!message.finish()) {
    if (collector_.failed()) return;
    return collector_.report().remark("record " + std::to_string(number_) +
                                      ", a request, is left out: " + message.problem());
  }
  auto const url = parse_url(uri());
  ExchangeDraft draft{.url = *url, .address = field("WARC-IP-Address")};
  draft.url.target = message.request().target;
  message.take_request(draft);
  note_protocols(draft, draft.request_version);
  draft.request_body_unknown = !field("WARC-Truncated").empty();
  captures_.add_request(capture(), std::move(draft));
}

void WarcReader::note_truncation(ExchangeDraft& draft) {
  auto const reason = field("WARC-Truncated");
  if (reason.empty()) return;
  draft.outcome = reason.starts_with("disconnect") ? Outcome::kCutByOrigin : Outcome::kCutByClient;
  draft.failure = "the recording was cut: " + reason.substr(0, 100);
}

/// A browser's protocol, beside the HTTP/1.1 that the format asks for.
void WarcReader::note_protocols(ExchangeDraft& draft, HttpVersion& version) const {
  constexpr std::string_view kTls = "tls/";
  for (const Field& each : fields_) {
    if (equals_ignoring_case(each.name, "WARC-Cipher-Suite")) draft.facts.cipher = each.value;
    if (!equals_ignoring_case(each.name, "WARC-Protocol")) continue;
    auto const named = parse_version(each.value);
    if (named != HttpVersion::kUnknown) version = named;
    if (each.value.starts_with(kTls) && each.value.size() == kTls.size() + 3) {
      draft.facts.tls_version = "TLSv" + each.value.substr(kTls.size());
    }
  }
}

void WarcReader::read_response(RecordBlock& block, bool is_revisit) {
  ExchangeDraft draft{.url = *parse_url(uri()), .address = field("WARC-IP-Address")};
  HttpMessage message(collector_, HttpMessage::Kind::kResponse);
  bool const has_head = block.starts_with("HTTP/");
  if (!has_head && !(is_revisit && block.left() == 0)) {
    ++collector_.report().not_http;
    collector_.report().remark("record " + std::to_string(number_) + " has no HTTP head: left out");
    return take_whole(block.skip());
  }
  auto const whole = block.read([&message](std::string_view piece) { message.append(piece); });
  if (!whole) {
    // What came of it is kept, if anything is.
    auto const cause = from_.failed() ? from_.fault()->what : "the file ends inside it";
    collector_.damage(place() + cause);
    draft.outcome = Outcome::kCutByClient;
    draft.failure = "the recording ends inside it";
  }
  if (has_head && !message.finish()) {
    if (collector_.failed()) return;
    ++collector_.report().not_http;
    return collector_.report().remark("record " + std::to_string(number_) +
                                      ", a response, is left out: " + message.problem());
  }
  if (has_head) message.take_response(draft);
  note_protocols(draft, draft.version);
  auto const profile = field("WARC-Profile");
  Referral const own{uri(), field("WARC-Date"), field("WARC-Payload-Digest")};
  if (!is_revisit || profile.find("server-not-modified") != std::string::npos) {
    if (!is_revisit) note_truncation(draft);
    if (!is_revisit) captures_.remember(own, draft);
    if (is_revisit && draft.status == 0) draft.status = 304;
    return captures_.add_response(capture(), std::move(draft));
  }
  Referral referral{field("WARC-Refers-To-Target-URI"), field("WARC-Refers-To-Date"), own.digest};
  captures_.add_revisit(capture(), std::move(draft), std::move(referral));
}

}  // namespace

void import_warc(ByteReader& from, Captures& captures, Collector& collector) {
  WarcReader(from, captures, collector).read();
}

}  // namespace reprise::importing
