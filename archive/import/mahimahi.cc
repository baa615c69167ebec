#include "archive/import/mahimahi.h"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <utility>

namespace reprise::importing {
namespace {

enum class WireType : std::uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

/// One field of a protobuf message: these messages have only numbers and bytes.
struct WireField {
  unsigned number = 0;
  WireType type = WireType::kVarint;
  std::uint64_t value = 0;
  std::string_view bytes;
};

/// Takes fields from the start of a message.
class Wire {
 public:
  explicit Wire(std::string_view message) : rest_(message) {}

  std::optional<WireField> next() {
    if (rest_.empty()) return std::nullopt;
    auto const tag = varint();
    WireField field{.number = static_cast<unsigned>(tag >> 3),
                    .type = static_cast<WireType>(tag & 7)};
    switch (field.type) {
      case WireType::kVarint:
        field.value = varint();
        break;
      case WireType::kFixed64:
        take(8);
        break;
      case WireType::kBytes:
        field.bytes = take(varint());
        break;
      case WireType::kFixed32:
        take(4);
        break;
      default:
        bad_ = true;
    }
    bad_ = bad_ || field.number == 0 || tag >> 32 != 0;
    if (bad_) return std::nullopt;
    return field;
  }
  /// Takes the tag and the length of the message with this number, so that its fields are next.
  /// False, and takes nothing, if something else is next. The message may be cut off.
  bool enter(unsigned number) {
    Wire ahead = *this;
    if (ahead.varint() != (number << 3 | static_cast<unsigned>(WireType::kBytes))) return false;
    ahead.varint();
    if (ahead.bad_) return false;
    *this = ahead;
    return true;
  }
  /// Whether it ended at a field's boundary.
  bool good() const { return !bad_; }

 private:
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      auto const byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= std::uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) return value;
    }
    bad_ = true;
    return 0;
  }
  std::string_view take(std::uint64_t count) {
    if (count > rest_.size()) {
      bad_ = true;
      return {};
    }
    auto const taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }

  std::string_view rest_;
  bool bad_ = false;
};

/// Records which fields of a message came: each must come once, with its type.
class Seen {
 public:
  bool take(const WireField& field, unsigned number, WireType type) {
    if (field.number != number) return false;
    bad_ = bad_ || field.type != type || (seen_ & 1U << number) != 0;
    seen_ |= 1U << number;
    return true;
  }
  /// Whether all `numbers` came, all valid.
  bool all(std::initializer_list<unsigned> numbers) const {
    return !bad_ && std::ranges::all_of(
                        numbers, [this](unsigned number) { return (seen_ & 1U << number) != 0; });
  }

 private:
  unsigned seen_ = 0;
  bool bad_ = false;
};

struct Message {
  std::string first_line;
  Fields fields;
  std::string_view body;
  bool has_more = false;  ///< unknown fields
};

bool parse_header(std::string_view bytes, Message& message) {
  Wire wire(bytes);
  Seen seen;
  Field header;
  while (auto const field = wire.next()) {
    if (seen.take(*field, 1, WireType::kBytes)) header.name = field->bytes;
    if (seen.take(*field, 2, WireType::kBytes)) header.value = field->bytes;
  }
  message.fields.push_back(std::move(header));
  return wire.good() && seen.all({1});
}

std::optional<Message> parse_message(std::string_view bytes) {
  Message message;
  Wire wire(bytes);
  Seen seen;
  while (auto const field = wire.next()) {
    if (field->number == 2) {
      bool const fits = field->type == WireType::kBytes && message.fields.size() < kFieldsMax;
      if (!fits || !parse_header(field->bytes, message)) return std::nullopt;
    } else if (seen.take(*field, 1, WireType::kBytes)) {
      message.first_line = field->bytes;
    } else if (seen.take(*field, 3, WireType::kBytes)) {
      message.body = field->bytes;
    } else {
      message.has_more = true;
    }
  }
  if (!wire.good() || !seen.all({1})) return std::nullopt;
  return message;
}

/// The data besides the two messages.
struct Record {
  std::string address;
  std::uint64_t port = 0;
  std::uint64_t scheme = 0;  ///< 1 http, 2 https
  std::optional<Message> request;
  std::optional<Message> response;
  bool has_more = false;
};

std::optional<Record> parse_record(std::string_view file) {
  Record record;
  Wire wire(file);
  Seen seen;
  while (auto const field = wire.next()) {
    if (seen.take(*field, 1, WireType::kBytes)) {
      record.address = field->bytes;
    } else if (seen.take(*field, 2, WireType::kVarint)) {
      record.port = field->value;
    } else if (seen.take(*field, 3, WireType::kVarint)) {
      record.scheme = field->value;
    } else if (seen.take(*field, 4, WireType::kBytes)) {
      record.request = parse_message(field->bytes);
    } else if (seen.take(*field, 5, WireType::kBytes)) {
      record.response = parse_message(field->bytes);
    } else {
      record.has_more = true;
    }
  }
  bool const good = wire.good() && seen.all({4, 5}) && record.request && record.response;
  if (!good || record.port > 65'535 || record.scheme > 2) return std::nullopt;
  record.has_more = record.has_more || record.request->has_more || record.response->has_more;
  return record;
}

bool is_chunked(const Fields& fields) {
  auto const* const coding = find_field(fields, "Transfer-Encoding");
  return coding != nullptr && coding->find("chunked") != std::string::npos;
}

std::optional<FoundBody> store(const Message& message, bool is_response, Collector& collector) {
  auto const* const coding = find_field(message.fields, "Content-Encoding");
  BodyFeed feed(collector.sink(), is_chunked(message.fields),
                coding == nullptr || !is_response ? "" : *coding);
  if (!collector.took(feed.append(message.body))) return std::nullopt;
  auto found = feed.finish();
  if (!collector.took(found)) return std::nullopt;
  return std::move(*found);
}

/// Host and port are those of the Host field, or else of the connection.
std::optional<Url> url_of(const Record& record, const RequestLine& line) {
  if (auto absolute = parse_url(line.target)) return absolute;
  auto const* const host = find_field(record.request->fields, "Host");
  auto authority = host != nullptr && !host->empty() ? *host : record.address;
  auto const url = parse_url((record.scheme == 2 ? "https://" : "http://") + authority);
  if (!url || !(line.target.starts_with('/') || line.target == "*")) return std::nullopt;
  auto out = *url;
  if (record.port > 0) out.port = static_cast<std::uint16_t>(record.port);
  out.target = clean_target(line.target);
  return out;
}

}  // namespace

bool begins_as_mahimahi(std::string_view start) {
  Wire wire(start);
  while (!wire.enter(4)) {
    auto const field = wire.next();
    if (!field || field->number > 3) return false;
  }
  auto const line = wire.next();
  if (!line || line->number != 1 || line->type != WireType::kBytes) return false;
  auto const request = parse_request_line(line->bytes);
  return request && request->version != HttpVersion::kUnknown;
}

void take_mahimahi_date(std::string_view file, EarliestDate& date) {
  if (auto const record = parse_record(file)) date.take(record->response->fields);
}

bool import_mahimahi(std::string_view file, UnixTime started, Collector& collector) {
  auto record = parse_record(file);
  if (!record) return false;
  auto const line = parse_request_line(record->request->first_line);
  auto const status = parse_status_line(record->response->first_line);
  auto const url = line ? url_of(*record, *line) : std::nullopt;
  if (!status || !url) return false;
  auto request_body = store(*record->request, false, collector);
  auto body = request_body ? store(*record->response, true, collector) : std::nullopt;
  if (!body) return false;
  if (record->has_more) {
    collector.report().remark("some files have unknown fields, which are ignored");
  }
  collector.begin({.started = std::chrono::system_clock::time_point(
                       std::chrono::nanoseconds(started.value_or(0))),
                   .tool_version = "a mahimahi folder"});
  collector.add({.method = line->method,
                 .url = *url,
                 .request_version = line->version,
                 .request_fields = std::move(record->request->fields),
                 .request_body = std::move(request_body->stored),
                 .status = status->status,
                 .reason = status->reason,
                 .version = status->version,
                 .fields = std::move(record->response->fields),
                 .body = std::move(*body),
                 .address = record->address});
  return true;
}

}  // namespace reprise::importing
