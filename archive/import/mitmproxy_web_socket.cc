#include "archive/import/mitmproxy_web_socket.h"

#include <algorithm>
#include <utility>

#include "archive/import/collect/draft_memory.h"

namespace reprise::importing {

MessageDraft close_message(const WebSocketClose& close) {
  MessageDraft message{.sender = *close.sender, .kind = MessageKind::kClose, .time = close.time};
  // RFC 6455 section 7.1.5: 1005 is a close without a code, 1006 an end without a close.
  if (close.code == 1006) message.kind = MessageKind::kEnd;
  if (close.code >= 1000 && close.code != 1005 && close.code != 1006) {
    message.payload = {static_cast<char>(close.code >> 8), static_cast<char>(close.code & 0xff)};
    message.payload += close.reason.substr(0, 123);
  }
  return message;
}

void WaitingHandshakes::hold(std::string id, ExchangeDraft draft) {
  draft.sequence = collector_.next_sequence();
  auto const bytes = memory_of(draft);
  memory_bytes_ += bytes;
  waiting_.push_back({.id = std::move(id), .draft = std::move(draft), .memory_bytes = bytes});
  while (waiting_.size() > kMax || memory_bytes_ > kBytesMax) {
    collector_.add(take(waiting_.begin()).draft);
  }
}

std::optional<ExchangeDraft> WaitingHandshakes::take(const std::string& id) {
  auto const at = std::ranges::find(waiting_, id, &Waiting::id);
  if (at == waiting_.end()) return std::nullopt;
  return take(at).draft;
}

void WaitingHandshakes::let_go() {
  while (!waiting_.empty()) collector_.add(take(waiting_.begin()).draft);
}

WaitingHandshakes::Waiting WaitingHandshakes::take(std::deque<Waiting>::iterator at) {
  auto waiting = std::move(*at);
  waiting_.erase(at);
  memory_bytes_ -= waiting.memory_bytes;
  return waiting;
}

}  // namespace reprise::importing
