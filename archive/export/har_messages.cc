#include "archive/export/har_messages.h"

#include <array>
#include <string>

namespace reprise::exporting {
namespace {

constexpr std::size_t kHeldBytesMax = 64 << 20;

/// The pieces of a message of one sender; those of the other may come between them.
struct Pending {
  std::string payload;
  bool too_long = false;
};

std::string unix_seconds(std::int64_t unix_ns) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  auto const fraction = std::to_string(kSecond + unix_ns % kSecond).substr(1);
  return std::to_string(unix_ns / kSecond) + "." + fraction;
}

void write_message(Job& job, const WebSocketMessage& message, std::string_view payload,
                   JsonWriter& json) {
  json.begin_object();
  json.key("type");
  json.text(message.sender == MessageSender::kClient ? "send" : "receive");
  if (auto const time = job.unix_time(message.time); time && *time >= 0) {
    json.key("time");
    json.raw(unix_seconds(*time));
  }
  json.key("opcode");
  json.number(static_cast<std::int64_t>(message.kind));
  json.key("data");
  if (message.kind == MessageKind::kText) {
    if (!json.text(payload)) job.report().lose(Loss::kText);
  } else {
    json.begin_text();
    Base64Output base64(json.plain());
    base64.write(payload);
    base64.flush();
    json.end_text();
  }
  json.end_object();
}

}  // namespace

bool write_har_messages(Job& job, const Exchange& exchange, JsonWriter& json) {
  json.key("_webSocketMessages");
  json.begin_array();
  std::array<Pending, 2> pending;
  bool const whole = job.visit_messages(exchange, [&](const WebSocketMessage& message) {
    if (message.kind == MessageKind::kEnd) return;
    auto const payload = std::string_view(reinterpret_cast<const char*>(message.payload.data()),
                                          message.payload.size());
    // A message in one piece need not be copied, and a control frame can come between pieces.
    auto& [held, too_long] = pending[message.sender == MessageSender::kClient ? 0 : 1];
    if (!is_data(message.kind) || (held.empty() && message.fin && !too_long)) {
      return write_message(job, message, payload, json);
    }
    too_long = too_long || held.size() + payload.size() > kHeldBytesMax;
    if (!too_long) held += payload;
    if (!message.fin) return;
    if (too_long) {
      job.report().lose(Loss::kMessages);
    } else {
      write_message(job, message, held, json);
    }
    held = {};
    too_long = false;
  });
  json.end_array();
  return whole;
}

}  // namespace reprise::exporting
