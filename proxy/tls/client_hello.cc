#include "proxy/tls/client_hello.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/bytes.h"
#include "base/text/ascii.h"

namespace reprise {
namespace {

constexpr std::uint8_t kRecordHandshake = 22;
constexpr std::uint8_t kMessageClientHello = 1;
constexpr std::size_t kRecordHeaderBytes = 5;
constexpr std::size_t kMessageHeaderBytes = 4;
constexpr std::size_t kRecordPayloadBytesMax = 1 << 14;  // RFC 8446 section 5.1
constexpr std::size_t kRandomBytes = 32;
constexpr std::size_t kSessionIdBytesMax = 32;
constexpr std::uint8_t kNameTypeHostName = 0;

enum ExtensionType : std::uint16_t {
  kServerName = 0,
  kSupportedGroups = 10,
  kSignatureAlgorithms = 13,
  kAlpn = 16,
  kSupportedVersions = 43,
};

using Bytes = std::span<const std::byte>;

/// Takes big-endian fields from the start. The first incomplete field makes this and every later
/// one fail.
class FieldReader {
 public:
  explicit FieldReader(Bytes bytes) : rest_(bytes) {}

  bool failed() const { return failed_; }
  bool at_end() const { return rest_.empty(); }

  Bytes bytes(std::size_t count) {
    if (count > rest_.size()) {
      failed_ = true;
      rest_ = {};
      return {};
    }
    Bytes const taken = rest_.first(count);
    rest_ = rest_.subspan(count);
    return taken;
  }

  std::uint8_t u8() {
    Bytes const taken = bytes(1);
    return taken.empty() ? std::uint8_t{0} : std::to_integer<std::uint8_t>(taken[0]);
  }
  std::uint16_t u16() {
    auto const high = u8();
    return static_cast<std::uint16_t>(high << 8 | u8());
  }
  Bytes vector8() { return bytes(u8()); }
  Bytes vector16() { return bytes(u16()); }

 private:
  Bytes rest_;
  bool failed_ = false;
};

/// A list of two-byte values; false if it is empty or has an odd length.
bool read_u16_list(Bytes list, std::vector<std::uint16_t>& values) {
  if (list.empty() || list.size() % 2 != 0) return false;
  FieldReader fields(list);
  values.reserve(list.size() / 2);
  while (!fields.at_end()) values.push_back(fields.u16());
  return true;
}

/// Converts a host name to lower case. False for other names than sites use: letters, digits, dots,
/// hyphens, and underscores, which some have. Those cannot be resolved, and must not get into a log
/// or a file name.
bool settle_host_name(std::string& name) {
  if (name.size() > 255) return false;
  for (char& c : name) {
    bool const is_allowed = is_letter(c) || is_digit(c) || c == '.' || c == '-' || c == '_';
    if (!is_allowed) return false;
    c = to_lower(c);
  }
  return true;
}

/// RFC 6066 section 3: at most one host name; names of other types are ignored.
bool read_server_name(Bytes data, std::string& server_name) {
  FieldReader extension(data);
  FieldReader list(extension.vector16());
  if (extension.failed() || !extension.at_end() || list.at_end()) return false;
  bool seen = false;
  while (!list.at_end()) {
    std::uint8_t const type = list.u8();
    Bytes const name = list.vector16();
    if (list.failed()) return false;
    if (type != kNameTypeHostName) continue;
    if (seen || name.empty()) return false;
    server_name = text_of(name);
    seen = true;
  }
  return true;
}

/// RFC 7301 section 3.1.
bool read_alpn(Bytes data, std::vector<std::string>& protocols) {
  FieldReader extension(data);
  FieldReader list(extension.vector16());
  if (extension.failed() || !extension.at_end() || list.at_end()) return false;
  while (!list.at_end()) {
    Bytes const protocol = list.vector8();
    if (list.failed() || protocol.empty()) return false;
    protocols.emplace_back(text_of(protocol));
  }
  return true;
}

bool read_extension(std::uint16_t type, Bytes data, ClientHello& hello) {
  FieldReader fields(data);
  switch (type) {
    case kServerName:
      return read_server_name(data, hello.server_name);
    case kAlpn:
      return read_alpn(data, hello.alpn);
    case kSupportedVersions:
      hello.versions.clear();
      return read_u16_list(fields.vector8(), hello.versions) && fields.at_end();
    case kSupportedGroups:
      return read_u16_list(fields.vector16(), hello.groups) && fields.at_end();
    case kSignatureAlgorithms:
      return read_u16_list(fields.vector16(), hello.signature_algorithms) && fields.at_end();
    default:
      return true;
  }
}

/// The body of the handshake message (RFC 8446 section 4.1.2; the same layout since TLS 1.0).
std::optional<ClientHello> read_body(Bytes body) {
  ClientHello hello;
  FieldReader fields(body);
  std::uint16_t const legacy_version = fields.u16();
  if (legacy_version >> 8 != 3) return std::nullopt;
  hello.versions = {legacy_version};
  fields.bytes(kRandomBytes);
  if (fields.vector8().size() > kSessionIdBytesMax) return std::nullopt;
  if (!read_u16_list(fields.vector16(), hello.cipher_suites)) return std::nullopt;
  if (fields.vector8().empty()) return std::nullopt;  // compression methods
  if (fields.failed()) return std::nullopt;
  if (fields.at_end()) return hello;  // without extensions, as before TLS 1.2

  FieldReader extensions(fields.vector16());
  if (fields.failed() || !fields.at_end()) return std::nullopt;
  while (!extensions.at_end()) {
    std::uint16_t const type = extensions.u16();
    Bytes const data = extensions.vector16();
    if (extensions.failed()) return std::nullopt;
    hello.extensions.push_back(type);
    if (!read_extension(type, data, hello)) return std::nullopt;
  }
  auto types = hello.extensions;
  std::ranges::sort(types);
  if (std::ranges::adjacent_find(types) != types.end()) return std::nullopt;
  return hello;
}

/// The extent of the records with the first handshake message.
struct Framing {
  std::size_t message_bytes = 0;  ///< including the header
  std::size_t stream_bytes = 0;   ///< from the start of the stream to the end of its last record
};

/// The message's length, once its header is complete. Fails early, so that a client cannot make us
/// wait for a message that would be refused.
Result<std::optional<std::size_t>> message_length(Bytes header) {
  if (!header.empty() && std::to_integer<std::uint8_t>(header[0]) != kMessageClientHello) {
    return fail(client_hello_errc::malformed);
  }
  if (header.size() < kMessageHeaderBytes) return std::nullopt;
  auto const byte = [&](std::size_t i) { return std::to_integer<std::size_t>(header[i]); };
  return kMessageHeaderBytes + (byte(1) << 16 | byte(2) << 8 | byte(3));
}

Result<std::optional<std::size_t>> record_payload_length(Bytes record, bool is_first) {
  auto const byte = [&](std::size_t i) { return std::to_integer<std::size_t>(record[i]); };
  auto const wrong = is_first ? client_hello_errc::not_tls : client_hello_errc::malformed;
  if (!record.empty() && byte(0) != kRecordHandshake) return fail(wrong);
  if (record.size() > 1 && byte(1) != 3) return fail(wrong);  // 3.x, SSL 3.0 to TLS 1.3
  if (record.size() < kRecordHeaderBytes) return std::nullopt;
  std::size_t const length = byte(3) << 8 | byte(4);
  if (length == 0 || length > kRecordPayloadBytesMax) return fail(client_hello_errc::malformed);
  return length;
}

/// Visits the records without copying, except for the message's header.
Result<std::optional<Framing>> find_message(Bytes stream) {
  std::array<std::byte, kMessageHeaderBytes> header;
  std::size_t header_bytes = 0;
  std::size_t payload_bytes = 0;
  std::size_t offset = 0;
  while (true) {
    auto const length = record_payload_length(stream.subspan(offset), offset == 0);
    if (!length) return fail(length.error());
    if (!*length) return std::nullopt;
    std::size_t const start = offset + kRecordHeaderBytes;
    Bytes const payload = stream.subspan(start, std::min(**length, stream.size() - start));
    for (std::byte const b : payload.first(std::min(payload.size(), header.size() - header_bytes)))
      header[header_bytes++] = b;
    payload_bytes += **length;
    offset = start + **length;

    auto const message = message_length(Bytes(header).first(header_bytes));
    if (!message) return fail(message.error());
    std::size_t const missing =
        *message ? **message - std::min(**message, payload_bytes) : std::size_t{1};
    std::size_t const next_record_bytes = missing == 0 ? 0 : kRecordHeaderBytes + missing;
    if (offset + next_record_bytes > kClientHelloBytesMax) {
      return fail(client_hello_errc::too_long);
    }
    if (offset > stream.size()) return std::nullopt;
    if (missing == 0) return Framing{.message_bytes = **message, .stream_bytes = offset};
  }
}

class ClientHelloCategory final : public std::error_category {
  const char* name() const noexcept override { return "client_hello"; }
  std::string message(int code) const override {
    switch (static_cast<client_hello_errc>(code)) {
      case client_hello_errc::not_tls:
        return "the client does not speak TLS on this port";
      case client_hello_errc::malformed:
        return "the client's TLS ClientHello is malformed";
      case client_hello_errc::too_long:
        return "the client's TLS ClientHello is longer than 64 KiB";
      case client_hello_errc::bad_server_name:
        return "the server name in the client's TLS ClientHello is not a host name";
    }
    return "unknown ClientHello error";
  }
};

}  // namespace

std::error_code make_error_code(client_hello_errc error) {
  static const ClientHelloCategory category;
  return {static_cast<int>(error), category};
}

Result<std::optional<ClientHello>> parse_client_hello(std::span<const std::byte> stream) {
  auto const framing = find_message(stream);
  if (!framing) return fail(framing.error());
  if (!*framing) return std::nullopt;

  std::vector<std::byte> message;
  message.reserve((*framing)->stream_bytes);
  for (std::size_t offset = 0; offset < (*framing)->stream_bytes;) {
    auto const length = record_payload_length(stream.subspan(offset), offset == 0);
    Bytes const payload = stream.subspan(offset + kRecordHeaderBytes, **length);
    message.insert(message.end(), payload.begin(), payload.end());
    offset += kRecordHeaderBytes + payload.size();
  }
  Bytes const body = Bytes(message).first((*framing)->message_bytes).subspan(kMessageHeaderBytes);
  auto hello = read_body(body);
  if (!hello) return fail(client_hello_errc::malformed);
  if (!settle_host_name(hello->server_name)) return fail(client_hello_errc::bad_server_name);
  return hello;
}

}  // namespace reprise
