#include "archive/import/warc.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "archive/import/collect/http_message.h"
#include "archive/import/record_block.h"
#include "archive/import/warc_block.h"

namespace reprise::importing {
namespace {

constexpr std::size_t kWarcLineBytesMax = 64 << 10;
constexpr std::size_t kHeadBytesMax = 1 << 20;
constexpr std::size_t kInfoBytesMax = 64 << 10;

/// The types of records in the format.
constexpr std::array<std::string_view, 8> kTypes = {"warcinfo",   "response",    "resource",
                                                    "request",    "metadata",    "revisit",
                                                    "conversion", "continuation"};

bool parse_length(const std::string& text, std::uint64_t& length) {
  auto const* const end = text.data() + text.size();
  auto const read = std::from_chars(text.data(), end, length);
  return read.ec == std::errc() && read.ptr == end;
}

/// "Name: value", or a line that continues the previous value.
bool is_field_line(std::string_view line) {
  if (line.find('\0') != std::string_view::npos) return false;
  if (line.front() == ' ' || line.front() == '\t') return true;
  auto const colon = line.find(':');
  return colon != std::string_view::npos && colon > 0;
}

/// The content of a record, and the result of its digests.
struct Block {
  Block(ByteReader& from, std::uint64_t size_bytes, const Fields& head)
      : digests(head, size_bytes), bytes(from, size_bytes, &digests) {}

  RecordDigests digests;
  RecordBlock bytes;
  bool is_shorter = false;  ///< than the head says
  RecordDigests::Verdict verdict = RecordDigests::Verdict::kNone;
};

class WarcReader {
 public:
  WarcReader(ByteReader& from, Captures& captures, Collector& collector)
      : from_(from), captures_(captures), collector_(collector) {}

  void read() {
    while (read_record()) continue;
  }

 private:
  bool read_record();
  std::string read_head();
  std::string problem_of_head(std::uint64_t& size_bytes) const;
  bool read_block(std::uint64_t size_bytes);
  bool read_info(Block& block);
  bool read_request(Block& block);
  bool read_response(Block& block, bool is_revisit);
  bool leave_out(Block& block, const std::string& why);
  template <class Take>
  bool take(Block& block, Take&& taker);
  void damage(const std::string& what);
  bool bad(const std::string& what);
  bool find_record();
  std::string place() const;
  void note_truncation(ExchangeDraft& draft);
  void note_protocols(ExchangeDraft& draft, HttpVersion& version) const;
  std::string field(std::string_view name) const {
    auto const* const value = find_field(fields_, name);
    return value == nullptr ? "" : *value;
  }
  bool is_type(std::string_view type) const {
    return equals_ignoring_case(field("WARC-Type"), type);
  }
  bool is_truncated() const { return !field("WARC-Truncated").empty(); }
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

std::string WarcReader::place() const {
  return "record " + std::to_string(number_) + " at byte " + std::to_string(offset_) + ": ";
}

/// Records damage to this record, or to the file at this place.
void WarcReader::damage(const std::string& what) {
  if (from_.failed()) return collector_.damage(*from_.fault());
  auto const url = uri();
  collector_.damage(place() + what + (url.empty() ? "" : " (" + url.substr(0, 200) + ")"));
}

/// The same if the end of the record is unknown: with `keep_going`, looks for the next record.
/// Returns whether there is one.
bool WarcReader::bad(const std::string& what) {
  damage(what);
  return !collector_.failed() && find_record();
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

/// False at the end of the readable part.
bool WarcReader::read_record() {
  fields_.clear();
  while (from_.some().starts_with('\r') || from_.some().starts_with('\n')) from_.consume(1);
  if (from_.at_end()) {
    if (from_.failed()) return bad("");
    if (number_ == 0) collector_.fail("the file contains no record");
    return false;
  }
  ++number_;
  offset_ = from_.offset();
  if (auto const problem = read_head(); !problem.empty()) return bad(problem);
  std::uint64_t size_bytes = 0;
  if (auto const problem = problem_of_head(size_bytes); !problem.empty()) return bad(problem);
  auto const whole = read_block(size_bytes);
  return !collector_.failed() && (whole || find_record());
}

/// Moves to the next possible start of a record. False if the file has no further one.
bool WarcReader::find_record() {
  while (true) {
    if (from_.failed() && !from_.resume()) return false;
    auto const text = from_.fill(kVersionLineBytesMax);
    auto const at = find_version_line(text);
    if (at != std::string_view::npos) {
      from_.consume(at);
      return true;
    }
    bool const is_end = text.size() < kVersionLineBytesMax;
    from_.consume(is_end ? text.size() : text.size() - kVersionLineBytesMax + 1);
    if (!is_end) continue;
    if (from_.at_end() && !from_.failed()) return false;
    if (from_.failed()) damage("");
  }
}

/// Reads the lines before a block. Returns the error, or nothing.
std::string WarcReader::read_head() {
  std::string line;
  auto const start = from_.fill(kWarcStart.size()).substr(0, kWarcStart.size());
  if (!equals_ignoring_case(start, kWarcStart)) {
    return "no record begins here: bytes are missing, or the previous record's length is wrong";
  }
  if (!from_.line(line, kWarcLineBytesMax) || !is_known_version(line)) {
    return "unknown WARC version: " + line.substr(0, 40);
  }
  std::string text;
  while (true) {
    line.clear();
    if (!from_.line(line, kWarcLineBytesMax)) return "the file ends inside its head";
    if (line.empty()) break;
    if (!is_field_line(line)) return "a line of its head is not a field: " + line.substr(0, 40);
    text += line + "\n";
    if (text.size() > kHeadBytesMax) return "its head is longer than 1 MiB";
  }
  fields_ = parse_fields(text);
  return {};
}

/// A required field that a head lacks. `size_bytes`: of the block.
std::string WarcReader::problem_of_head(std::uint64_t& size_bytes) const {
  auto const length = field("Content-Length");
  if (length.empty()) return "its Content-Length is missing";
  if (!parse_length(length, size_bytes)) return "its Content-Length is not a number";
  if (field("WARC-Type").empty()) return "its WARC-Type is missing";
  bool const is_http = field("Content-Type").starts_with("application/http");
  bool const is_known =
      std::ranges::any_of(kTypes, [this](std::string_view type) { return is_type(type); });
  if (!is_known && is_http)
    return "it contains HTTP, but its type is unknown: " + field("WARC-Type");
  if (!is_type("response") && !is_type("request") && !is_type("revisit")) return {};
  if (uri().empty()) return "its WARC-Target-URI is missing";
  if (!parse_time(field("WARC-Date"))) return "its WARC-Date is missing or invalid";
  return {};
}

/// Passes all of a block to `taker`. False if the file or the record ends before the block, unless
/// a digest proves that it is complete. Damage is recorded.
template <class Take>
bool WarcReader::take(Block& block, Take&& taker) {
  constexpr auto kInside = "its length is wrong: the next record begins inside it";
  if (!block.bytes.read(taker)) {
    damage(from_.at_end() ? "the file ends inside the record" : kInside);
    return false;
  }
  block.verdict = block.digests.finish();
  if (block.is_shorter) {
    damage(kInside);
    return block.verdict == RecordDigests::Verdict::kGood;
  }
  if (block.verdict == RecordDigests::Verdict::kBad) damage(block.digests.problem());
  if (!block.digests.unknown().empty()) {
    collector_.report().remark("some digests are not checked, such as " + block.digests.unknown());
  }
  return true;
}

/// Skips a record that is not an exchange. With a good digest it was recorded so; otherwise it is
/// damage.
bool WarcReader::leave_out(Block& block, const std::string& why) {
  if (collector_.failed()) return true;
  if (block.verdict != RecordDigests::Verdict::kGood) {
    damage("skipped: " + why);
    return true;
  }
  if (!is_type("request")) ++collector_.report().not_http;
  collector_.report().remark("record " + std::to_string(number_) + ", a " + field("WARC-Type") +
                             " record, skipped: " + why);
  return true;
}

/// False if it has not the length that its head says.
bool WarcReader::read_block(std::uint64_t size_bytes) {
  bool const is_response = is_type("response") || is_type("revisit");
  bool const is_exchange = is_response || is_type("request");
  auto const bytes =
      collector_.keeps_going() ? warc_block_bytes(from_, size_bytes, is_exchange) : size_bytes;
  Block block(from_, bytes, fields_);
  block.is_shorter = bytes < size_bytes;
  block.bytes.stop_at_record(begins_version_line);
  if (is_type("warcinfo")) return read_info(block);
  bool const is_segment = !field("WARC-Segment-Number").empty();
  if (is_exchange && parse_url(uri()) && !is_segment) {
    begin();
    return is_response ? read_response(block, is_type("revisit")) : read_request(block);
  }
  if (is_response) {
    auto const* const what =
        is_segment ? "segmented records are not supported" : "not an http or https URL";
    collector_.report().remark("skipped: " + std::string(what) + ": " + uri().substr(0, 200));
  }
  if (!is_type("request") && !is_type("metadata")) ++collector_.report().not_http;
  return take(block, [](std::string_view) {});
}

void WarcReader::begin() {
  auto const date = started_ ? started_ : parse_time(field("WARC-Date"));
  collector_.begin(
      {.started = std::chrono::system_clock::time_point(std::chrono::nanoseconds(date.value_or(0))),
       .tool_version = "a WARC" + (software_.empty() ? "" : " by " + software_)});
}

bool WarcReader::read_info(Block& block) {
  std::string text;
  auto const whole = take(block, [&text](std::string_view piece) {
    text += piece.substr(0, kInfoBytesMax - std::min(kInfoBytesMax, text.size()));
  });
  auto const fields = parse_fields(text);
  if (auto const* const software = find_field(fields, "software")) {
    software_ = software->substr(0, 200);
  }
  // Our own export has more.
  if (auto const* const started = find_field(fields, "reprise-started")) {
    started_ = parse_time(*started);
  }
  std::vector<std::string> pages;
  for (const Field& each : fields) {
    if (equals_ignoring_case(each.name, "reprise-page")) pages.push_back(each.value);
  }
  collector_.add_pages(std::move(pages));
  return whole;
}

bool WarcReader::read_request(Block& block) {
  HttpMessage message(collector_, HttpMessage::Kind::kRequest);
  if (!is_truncated()) message.expect(block.bytes.left());
  if (!take(block, [&message](std::string_view piece) { message.append(piece); })) return false;
  if (!message.finish(is_truncated())) return leave_out(block, message.problem());
  auto const url = parse_url(uri());
  ExchangeDraft draft{.url = *url, .address = field("WARC-IP-Address")};
  draft.url.target = message.request().target;
  message.take_request(draft);
  note_protocols(draft, draft.request_version);
  draft.request_body_unknown = is_truncated();
  captures_.add_request(capture(), std::move(draft));
  return true;
}

void WarcReader::note_truncation(ExchangeDraft& draft) {
  auto const reason = field("WARC-Truncated");
  if (reason.empty()) return;
  draft.outcome = reason.starts_with("disconnect") ? Outcome::kCutByOrigin : Outcome::kCutByClient;
  draft.failure = "the recording was cut: " + reason.substr(0, 100);
}

/// A browser's protocol, besides the HTTP/1.1 that the format requires.
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

bool WarcReader::read_response(Block& block, bool is_revisit) {
  ExchangeDraft draft{.url = *parse_url(uri()), .address = field("WARC-IP-Address")};
  HttpMessage message(collector_, HttpMessage::Kind::kResponse);
  bool const has_head = block.bytes.starts_with("HTTP/");
  if (!has_head && !(is_revisit && block.bytes.left() == 0)) {
    return take(block, [](std::string_view) {}) && leave_out(block, "it has no HTTP head");
  }
  if (!is_truncated()) message.expect(block.bytes.left());
  auto const whole = take(block, [&message](std::string_view piece) { message.append(piece); });
  if (!whole) {
    // Data received before the cut is kept, if any.
    draft.outcome = Outcome::kCutByClient;
    draft.failure = "its record ends too early";
  }
  if (has_head && !message.finish(!whole || is_truncated())) {
    return whole && leave_out(block, message.problem());
  }
  if (has_head) message.take_response(draft);
  note_protocols(draft, draft.version);
  auto const profile = field("WARC-Profile");
  Referral const own{uri(), field("WARC-Date"), field("WARC-Payload-Digest")};
  if (!is_revisit || profile.find("server-not-modified") != std::string::npos) {
    if (!is_revisit) note_truncation(draft);
    if (!is_revisit) captures_.remember(own, draft);
    if (is_revisit && draft.status == 0) draft.status = 304;
    captures_.add_response(capture(), std::move(draft));
    return whole;
  }
  Referral referral{field("WARC-Refers-To-Target-URI"), field("WARC-Refers-To-Date"), own.digest};
  captures_.add_revisit(capture(), std::move(draft), std::move(referral));
  return whole;
}

}  // namespace

void import_warc(ByteReader& from, Captures& captures, Collector& collector) {
  WarcReader(from, captures, collector).read();
}

}  // namespace reprise::importing
