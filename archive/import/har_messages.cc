#include "archive/import/har_messages.h"

#include <cmath>

#include "base/text/base64.h"

namespace reprise::importing {
namespace {

bool is_opcode(double number) {
  return number == 1 || number == 2 || number == 8 || number == 9 || number == 10;
}

}  // namespace

std::optional<MessageDraft> read_har_message(JsonReader& json) {
  MessageDraft message;
  std::string type;
  std::string name;
  double opcode = -1;
  bool has_data = false;
  if (!json.enter_object()) return std::nullopt;
  while (json.next_member(name)) {
    if (name == "type") {
      bool is_cut = false;  // a longer one is unknown
      type = json.text_up_to(16, is_cut);
    } else if (name == "time") {
      auto const seconds = json.number().value_or(0);
      if (seconds > 0 && seconds < 7e9) message.time = std::llround(seconds * 1e9);
    } else if (name == "opcode") {
      opcode = json.number().value_or(-1);
    } else if (name == "data") {
      has_data = json.string_pieces([&message](std::string_view piece) {
        // A longer message is skipped completely, decoded or not.
        message.payload.append(piece.substr(0, 2 * kMessagePayloadMax - message.payload.size()));
      });
    } else {
      json.skip();
    }
  }
  bool const known = is_opcode(opcode) && (type == "send" || type == "receive");
  if (!has_data || !known) return std::nullopt;
  message.sender = type == "send" ? MessageSender::kClient : MessageSender::kOrigin;
  message.kind = static_cast<MessageKind>(static_cast<int>(opcode));
  if (message.kind == MessageKind::kText) return message;
  std::string bytes;
  Base64Decoder decoder;
  if (!decoder.append(message.payload, bytes) || !decoder.is_whole()) return std::nullopt;
  message.payload = std::move(bytes);
  return message;
}

}  // namespace reprise::importing
