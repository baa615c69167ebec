#include "archive/web_socket.h"

#include <bit>

#include "archive/record.h"

namespace reprise {
namespace {

constexpr std::byte kMoreFollows{1};

bool is_kind(std::uint8_t number) {
  return number <= 2 || (number >= 8 && number <= 10);
}

}  // namespace

bool agrees_to_web_socket(HttpVersion version, std::uint16_t status) {
  // RFC 8441 section 5, RFC 9220 section 3: over h2 and h3 any success status accepts.
  bool const is_multiplexed = version == HttpVersion::kH2 || version == HttpVersion::kH3;
  return status == 101 || (is_multiplexed && status >= 200 && status < 300);
}

bool opens_web_socket(const Exchange& exchange) {
  return exchange.request.protocol == kWebSocketProtocol &&
         agrees_to_web_socket(exchange.response.version, exchange.response.status);
}

bool is_data(MessageKind kind) {
  return kind == MessageKind::kText || kind == MessageKind::kBinary;
}

std::string_view to_string(MessageSender sender) {
  return sender == MessageSender::kClient ? "client" : "origin";
}

std::string_view to_string(MessageKind kind) {
  switch (kind) {
    case MessageKind::kEnd:
      return "end";
    case MessageKind::kText:
      return "text";
    case MessageKind::kBinary:
      return "binary";
    case MessageKind::kClose:
      return "close";
    case MessageKind::kPing:
      return "ping";
    case MessageKind::kPong:
      return "pong";
  }
  return "unknown";
}

std::array<std::byte, kMessagePrefixBytes> encode_message_prefix(const MessageOwner& owner,
                                                                 const WebSocketMessage& message) {
  std::array<std::byte, kMessagePrefixBytes> prefix{};
  store_u32(prefix.data(), owner.session);
  prefix[4] = std::byte(message.sender);
  prefix[5] = std::byte(message.kind);
  prefix[6] = message.fin ? std::byte(0) : kMoreFollows;
  store_u64(prefix.data() + 8, owner.sequence);
  store_u64(prefix.data() + 16, std::bit_cast<std::uint64_t>(message.time.count()));
  return prefix;
}

std::optional<DecodedMessage> decode_message(std::span<const std::byte> record_payload) {
  if (record_payload.size() < kMessagePrefixBytes ||
      record_payload.size() > kMessagePrefixBytes + kMessageBytesMax) {
    return std::nullopt;
  }
  auto const* const at = record_payload.data();
  auto const sender = std::to_integer<std::uint8_t>(at[4]);
  auto const kind = std::to_integer<std::uint8_t>(at[5]);
  if ((sender != 1 && sender != 2) || !is_kind(kind) || at[6] > kMoreFollows ||
      at[7] != std::byte(0)) {
    return std::nullopt;
  }
  WebSocketMessage const message{
      .sender = MessageSender(sender),
      .kind = MessageKind(kind),
      .fin = at[6] != kMoreFollows,
      .time = SessionTime(std::bit_cast<std::int64_t>(load_u64(at + 16))),
      .payload = record_payload.subspan(kMessagePrefixBytes)};
  if (!message.fin && !is_data(message.kind)) return std::nullopt;
  return DecodedMessage{.owner = {.session = load_u32(at), .sequence = load_u64(at + 8)},
                        .message = message};
}

}  // namespace reprise
