#pragma once

// The messages of a WebSocket (RFC 6455), stored after the exchange that opened it. Plain values,
// and their conversion to and from record payloads (archive/FORMAT.md). Pure; payloads to decode
// are hostile.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "archive/exchange.h"

namespace reprise {

/// The value of StoredRequest::protocol in such an exchange.
inline constexpr std::string_view kWebSocketProtocol = "websocket";

/// Whether a response with that version and status accepts a requested WebSocket.
bool agrees_to_web_socket(HttpVersion version, std::uint16_t status);
/// Whether the exchange opened a WebSocket: it was requested and accepted.
bool opens_web_socket(const Exchange& exchange);

enum class MessageSender : std::uint8_t { kClient = 1, kOrigin = 2 };

/// As the opcodes of RFC 6455 section 5.2.
enum class MessageKind : std::uint8_t {
  kEnd = 0,  ///< the sender ended the connection; nothing follows, from either side
  kText = 1,
  kBinary = 2,
  kClose = 8,  ///< the payload is empty, or a code (big endian) and a reason
  kPing = 9,
  kPong = 10,
};

/// Whether it carries data: text and binary messages, which can be stored in pieces.
bool is_data(MessageKind kind);

std::string_view to_string(MessageSender sender);  // "client"
std::string_view to_string(MessageKind kind);      // "text"

/// A message, or a piece of a long one.
struct WebSocketMessage {
  MessageSender sender = MessageSender::kClient;
  MessageKind kind = MessageKind::kText;
  /// RFC 6455 section 5.2: its last piece. If not, the next piece is the next text or binary
  /// message of the same sender.
  bool fin = true;
  SessionTime time = kNoTime;  ///< when its last byte had arrived
  /// As the application sent it: unmasked, uncompressed. Borrowed. At most kMessageBytesMax.
  std::span<const std::byte> payload;
};
inline constexpr std::size_t kMessageBytesMax = 1 << 20;

/// The exchange that a message belongs to.
struct MessageOwner {
  std::uint32_t session = 0;
  std::uint64_t sequence = 0;
  auto operator<=>(const MessageOwner&) const = default;
};

inline MessageOwner owner_of_messages(const Exchange& exchange) {
  return {.session = exchange.session, .sequence = exchange.sequence};
}

inline constexpr std::size_t kMessagePrefixBytes = 24;

/// The bytes before the payload.
std::array<std::byte, kMessagePrefixBytes> encode_message_prefix(const MessageOwner& owner,
                                                                 const WebSocketMessage& message);

struct DecodedMessage {
  MessageOwner owner;
  WebSocketMessage message;  ///< a view into the decoded bytes
};
/// Nothing if no writer writes such a payload.
std::optional<DecodedMessage> decode_message(std::span<const std::byte> record_payload);

}  // namespace reprise
