// Bytes as WebSocket frames: however they are cut, the same messages come out, or the same error;
// and what came out reads the same when it is put into frames again. The first byte says who sent
// them, the second how they are cut.

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "proxy/http/web_socket.h"

namespace reprise {
namespace {

struct Message {
  MessageKind kind;
  std::string payload;
  bool operator==(const Message&) const = default;
};

struct Read {
  std::vector<Message> messages;
  std::string open;
  std::error_code error;
  bool operator==(const Read&) const = default;
};

Read read(MessageSender sender, std::span<const std::byte> wire, std::size_t at_once) {
  WebSocketParser parser(sender);
  Read result;
  while (!wire.empty() && !result.error) {
    auto input = wire.first(std::min(at_once, wire.size()));
    wire = wire.subspan(input.size());
    while (true) {
      auto const step = parser.next(input);
      if (!step) {
        result.error = step.error();
        break;
      }
      if (step->consumed > input.size()) std::abort();
      input = input.subspan(step->consumed);
      if (!step->piece) {
        if (!input.empty()) std::abort();
        break;
      }
      auto const& [kind, ends, payload] = *step->piece;
      std::string const text(reinterpret_cast<const char*>(payload.data()), payload.size());
      if (kind >= MessageKind::kClose) {
        if (text.size() > 125 || !ends) std::abort();
        result.messages.push_back({kind, text});
        continue;
      }
      result.open += text;
      if (ends) result.messages.push_back({kind, std::exchange(result.open, {})});
    }
  }
  return result;
}

void check(MessageSender sender, std::span<const std::byte> wire, std::size_t at_once) {
  auto const whole = read(sender, wire, wire.size() + 1);
  auto const cut = read(sender, wire, at_once);
  // Text before a byte that cannot stand there may come out or not.
  if (whole.messages != cut.messages || whole.error != cut.error) std::abort();
  std::optional<FrameHeader::Mask> mask;
  if (sender == MessageSender::kClient) mask = FrameHeader::Mask{std::byte(7), std::byte(99)};
  std::vector<std::byte> again;
  for (const Message& message : whole.messages) {
    auto const header = FrameHeader(message.kind, message.payload.size(), true, false, mask);
    auto const bytes = std::as_bytes(std::span(message.payload));
    std::vector<std::byte> payload(bytes.begin(), bytes.end());
    if (mask) apply_mask(*mask, 0, payload);
    again.insert(again.end(), header.bytes().begin(), header.bytes().end());
    again.insert(again.end(), payload.begin(), payload.end());
  }
  auto const second = read(sender, again, at_once);
  if (second.error || second.messages != whole.messages) std::abort();
}

}  // namespace
}  // namespace reprise

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace reprise;
  if (size < 2) return 0;
  auto const input = std::as_bytes(std::span(data, size));
  check((data[0] & 1) != 0 ? MessageSender::kClient : MessageSender::kOrigin, input.subspan(2),
        1 + data[1] % 64);
  return 0;
}
