#include "archive/exchange_site.h"

namespace reprise {
namespace {

// Field numbers of archive.proto.
constexpr std::uint32_t kExchangeRequest = 6;
constexpr std::uint32_t kExchangeResponse = 8;
constexpr std::uint32_t kRequestScheme = 2;
constexpr std::uint32_t kRequestHost = 3;
constexpr std::uint32_t kRequestPort = 4;
constexpr std::uint32_t kResponseVersion = 3;

/// The fields of one protobuf message, in wire order.
class WireFields {
 public:
  explicit WireFields(Bytes message) : rest_(message) {}

  /// False at the end, and on an invalid field: broken().
  bool next() {
    if (rest_.empty() || broken_) return false;
    auto const tag = varint();
    number_ = static_cast<std::uint32_t>(tag >> 3);
    type_ = static_cast<unsigned>(tag & 7);
    switch (type_) {
      case kVarint:
        value = static_cast<std::uint32_t>(varint());
        break;
      case 1:
        take(8);
        break;
      case kBytes:
        bytes = take(varint());
        break;
      case 5:
        take(4);
        break;
      default:
        broken_ = true;
    }
    return !broken_;
  }
  bool broken() const { return broken_; }

  /// Whether this is the field, with a number or bytes.
  bool is_number(std::uint32_t field) const { return number_ == field && type_ == kVarint; }
  bool is_bytes(std::uint32_t field) const { return number_ == field && type_ == kBytes; }

  std::uint32_t value = 0;  ///< of a number
  Bytes bytes;

 private:
  static constexpr unsigned kVarint = 0;
  static constexpr unsigned kBytes = 2;

  std::uint64_t varint() {
    std::uint64_t sum = 0;
    for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      auto const byte = std::to_integer<std::uint64_t>(rest_[0]);
      rest_ = rest_.subspan(1);
      sum |= (byte & 0x7f) << shift;
      if (byte < 0x80) return sum;
    }
    broken_ = true;
    return 0;
  }
  Bytes take(std::uint64_t size) {
    if (size > rest_.size()) {
      broken_ = true;
      return {};
    }
    auto const taken = rest_.first(static_cast<std::size_t>(size));
    rest_ = rest_.subspan(static_cast<std::size_t>(size));
    return taken;
  }

  Bytes rest_;
  std::uint32_t number_ = 0;
  unsigned type_ = 0;
  bool broken_ = false;
};

bool read_request(Bytes message, ExchangeSite& site) {
  WireFields fields(message);
  std::uint32_t scheme = 0;
  std::uint32_t port = 0;
  while (fields.next()) {
    if (fields.is_number(kRequestScheme)) scheme = fields.value;
    if (fields.is_number(kRequestPort)) port = fields.value;
    if (fields.is_bytes(kRequestHost)) {
      site.host = {reinterpret_cast<const char*>(fields.bytes.data()), fields.bytes.size()};
    }
  }
  if (fields.broken() || port > UINT16_MAX || scheme < 1 || scheme > 2) return false;
  site.scheme = static_cast<Scheme>(scheme);
  site.port = static_cast<std::uint16_t>(port);
  return true;
}

bool read_response(Bytes message, ExchangeSite& site) {
  WireFields fields(message);
  while (fields.next()) {
    if (!fields.is_number(kResponseVersion)) continue;
    if (fields.value > static_cast<std::uint32_t>(HttpVersion::kH3)) return false;
    site.version = static_cast<HttpVersion>(fields.value);
  }
  return !fields.broken();
}

}  // namespace

std::optional<ExchangeSite> decode_exchange_site(Bytes payload) {
  ExchangeSite site;
  bool has_request = false;
  WireFields fields(payload);
  while (fields.next()) {
    if (fields.is_bytes(kExchangeRequest)) {
      if (!read_request(fields.bytes, site)) return std::nullopt;
      has_request = true;
    } else if (fields.is_bytes(kExchangeResponse) && !read_response(fields.bytes, site)) {
      return std::nullopt;
    }
  }
  if (fields.broken() || !has_request) return std::nullopt;
  return site;
}

}  // namespace reprise
