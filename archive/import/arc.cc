#include <algorithm>
#include <charconv>

#include "archive/import/collect/http_message.h"
#include "archive/import/record_block.h"
#include "archive/import/warc.h"

namespace reprise::importing {
namespace {

constexpr std::size_t kArcLineBytesMax = 64 << 10;

template <class T>
bool parse(std::string_view text, T& number) {
  auto const read = std::from_chars(text.data(), text.data() + text.size(), number);
  return !text.empty() && read.ec == std::errc() && read.ptr == text.data() + text.size();
}

/// "URL address date type length"; version 2 has five more fields before the length.
struct ArcLine {
  std::string url;
  std::string address;
  std::string date;
  std::string type;
  std::uint64_t length = 0;
};

/// Parses from the end, since some URLs contain spaces.
std::optional<ArcLine> parse_line(std::string_view line, std::size_t words) {
  std::vector<std::string_view> parts;
  while (parts.size() < words - 1) {
    auto const at = line.rfind(' ');
    if (at == std::string_view::npos) return std::nullopt;
    parts.push_back(line.substr(at + 1));
    line = line.substr(0, at);
  }
  ArcLine out{.url = std::string(line)};
  if (!parse(parts.front(), out.length)) return std::nullopt;
  std::ranges::reverse(parts);
  out.address = parts[0];
  out.date = parts[1];
  out.type = parts[2];
  return out;
}

class ArcReader {
 public:
  ArcReader(ByteReader& from, Captures& captures, Collector& collector)
      : from_(from), captures_(captures), collector_(collector) {}

  void read() {
    while (read_record()) continue;
  }

 private:
  bool read_record();
  bool read_version(RecordBlock& block);
  bool read_response(const ArcLine& line, RecordBlock& block);
  bool read_bare_body(RecordBlock& block, const ArcLine& line, ExchangeDraft& draft);
  void damage(const std::string& what);
  bool bad_end(bool is_member);
  bool bad(const std::string& what);

  ByteReader& from_;
  Captures& captures_;
  Collector& collector_;
  std::uint64_t number_ = 0;
  std::uint64_t offset_ = 0;
  std::size_t words_ = 5;
};

/// Records damage to this record, or to the file at this place.
void ArcReader::damage(const std::string& what) {
  if (from_.failed()) return collector_.damage(*from_.fault());
  collector_.damage("record " + std::to_string(number_) + " at byte " + std::to_string(offset_) +
                    ": " + what);
}

/// The same if the end of the record is unknown: with `keep_going`, looks for the next record,
/// whose only mark is the start of a gzip member. Returns whether there is one.
bool ArcReader::bad(const std::string& what) {
  damage(what);
  if (collector_.failed()) return false;
  if (from_.source_failed()) return from_.resume();
  bool const has_rest = from_.failed() || !from_.at_end();
  if (from_.seek_part(offset_)) return true;
  if (from_.failed()) return bad("");
  if (has_rest) {
    collector_.report().remark(
        "the rest of the ARC is not read: only the start of a gzip member marks a record");
  }
  return false;
}

/// The same for a record that ends too early. `is_member`: it is alone in its gzip member.
bool ArcReader::bad_end(bool is_member) {
  if (!from_.at_end()) return bad("its gzip member ends inside the record");
  if (is_member || from_.failed() || !collector_.keeps_going()) {
    return bad("the file ends inside the record");
  }
  damage("the file ends inside the record");
  collector_.report().remark(
      "a record of the ARC is longer than the rest of the file: if its length is wrong, the "
      "records after it are not read");
  return false;
}

bool ArcReader::read_record() {
  while (from_.some().starts_with('\r') || from_.some().starts_with('\n')) from_.consume(1);
  if (from_.at_end()) return from_.failed() && bad("");
  ++number_;
  offset_ = from_.offset();
  bool const begins_member = from_.next_part() == offset_;
  std::string text;
  if (!from_.line(text, kArcLineBytesMax)) return bad("the file ends inside its first line");
  auto line = parse_line(text, words_);
  // The first line has the fields of version 1 or those of version 2.
  if (!line && number_ == 1) line = parse_line(text, 10);
  if (!line) return bad("its first line is malformed, or its length is not a number");
  RecordBlock block(from_, line->length);
  // A record never spans members. The member of a whole ARC begins with the first record.
  if (begins_member) block.stop_at_record([](std::string_view) { return true; });
  bool const is_version = line->url.starts_with("filedesc:");
  bool const whole = is_version ? read_version(block) : read_response(*line, block);
  if (whole || collector_.failed()) return !collector_.failed();
  return bad_end(begins_member && number_ > 1);
}

/// False, like the functions below, if the file or the gzip member ends inside the record.
bool ArcReader::read_version(RecordBlock& block) {
  std::string text;
  auto const whole = block.read([&text](std::string_view piece) {
    text += piece.substr(0, kArcLineBytesMax - std::min(kArcLineBytesMax, text.size()));
  });
  words_ = text.starts_with('2') ? 10 : 5;
  return whole;
}

bool ArcReader::read_response(const ArcLine& line, RecordBlock& block) {
  auto const url = parse_url(line.url);
  if (!url) {
    ++collector_.report().not_http;
    return block.skip();
  }
  ExchangeDraft draft{.url = *url, .address = line.address};
  Capture capture{.uri = line.url, .date = parse_compact_time(line.date)};
  collector_.begin({.started = std::chrono::system_clock::time_point(
                        std::chrono::nanoseconds(capture.date.value_or(0))),
                    .tool_version = "an ARC"});
  if (block.starts_with("HTTP/")) {
    HttpMessage message(collector_, HttpMessage::Kind::kResponse);
    message.expect(block.left());
    if (!block.read([&message](std::string_view piece) { message.append(piece); })) return false;
    if (!message.finish()) {
      if (!collector_.failed()) damage(message.problem());
      return true;
    }
    message.take_response(draft);
  } else if (!read_bare_body(block, line, draft)) {
    return false;
  }
  if (!collector_.failed()) captures_.add_response(std::move(capture), std::move(draft));
  return true;
}

/// HTTP/0.9 has no head; the record's line has the type.
bool ArcReader::read_bare_body(RecordBlock& block, const ArcLine& line, ExchangeDraft& draft) {
  BodyFeed feed(collector_.sink(), false, "");
  auto const whole =
      block.read([&](std::string_view piece) { collector_.took(feed.append(piece)); });
  if (!whole) return false;
  auto found = feed.finish();
  if (!collector_.took(found)) return true;
  draft.status = 200;
  draft.body = std::move(*found);
  if (line.type.find('/') != std::string::npos) {
    draft.fields.push_back({.name = "Content-Type", .value = line.type});
  }
  collector_.report().remark("some responses have no head and are imported with status 200");
  return true;
}

}  // namespace

void import_arc(ByteReader& from, Captures& captures, Collector& collector) {
  ArcReader(from, captures, collector).read();
}

}  // namespace reprise::importing
