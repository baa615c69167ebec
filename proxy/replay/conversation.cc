#include "proxy/replay/conversation.h"

#include <algorithm>
#include <utility>

namespace reprise {
namespace {

bool is_of(const WebSocketMessage& message, MessageSender sender) {
  return message.sender == sender;
}

/// How much later; zero if either time is unknown or invalid.
Conversation::Time pause_between(SessionTime from, SessionTime to) {
  SessionTime::rep between = 0;
  if (from == kNoTime || to == kNoTime ||
      __builtin_sub_overflow(to.count(), from.count(), &between)) {
    return {};
  }
  return std::clamp(Conversation::Time(between), Conversation::Time(0), Conversation::kDelayMax);
}

}  // namespace

Conversation::Conversation(std::span<const WebSocketMessage> script, SessionTime opened, Time now)
    : script_(script), base_recorded_(opened), base_(now), last_sent_(now) {
  for (const WebSocketMessage& message : script_) {
    if (!is_data(message.kind) || !message.fin) continue;
    ++(is_of(message, MessageSender::kClient) ? counts_.client_recorded : counts_.origin_recorded);
  }
  while (expected_ < script_.size() && !is_client_data(expected_)) ++expected_;
}

bool Conversation::is_client_data(std::size_t at) const {
  return is_of(script_[at], MessageSender::kClient) && is_data(script_[at].kind);
}

void Conversation::compare(const WebSocketParser::Piece& piece) {
  auto left = piece.payload;
  while (same_ && !left.empty() && expected_ < script_.size()) {
    auto const& recorded = script_[expected_];
    auto const rest = recorded.payload.subspan(expected_offset_);
    auto const count = std::min(rest.size(), left.size());
    same_ = recorded.kind == piece.kind && std::ranges::equal(rest.first(count), left.first(count));
    left = left.subspan(count);
    expected_offset_ += count;
    if (!same_ || left.empty()) break;
    if (recorded.fin) {
      same_ = false;  // it is longer than the recorded message
      break;
    }
    do {
      ++expected_;
    } while (expected_ < script_.size() && !is_client_data(expected_));
    expected_offset_ = 0;
  }
}

void Conversation::receive(const WebSocketParser::Piece& piece, Time now) {
  if (client_closed_) return;
  if (piece.kind == MessageKind::kClose) receive_close(now);
  if (!is_data(piece.kind)) return;
  compare(piece);
  if (!piece.ends) return;
  auto const number = ++counts_.client_received;
  if (number > counts_.client_recorded) return;
  bool const is_whole = expected_ < script_.size() && script_[expected_].kind == piece.kind &&
                        expected_offset_ == script_[expected_].payload.size() &&
                        script_[expected_].fin;
  if (!same_ || !is_whole) {
    ++counts_.client_differing;
    if (differing_.size() < kDifferencesMax) differing_.push_back(number);
  }
  received_.push_back(now);
  // Continue with the first piece of the next one.
  while (expected_ < script_.size() && (!is_client_data(expected_) || !script_[expected_].fin)) {
    ++expected_;
  }
  if (expected_ < script_.size()) ++expected_;
  while (expected_ < script_.size() && !is_client_data(expected_)) ++expected_;
  expected_offset_ = 0;
  same_ = true;
}

void Conversation::receive_close(Time now) {
  client_closed_ = now;
  if (origin_closed_) return;
  // The client expects nothing more, except the answer to this.
  auto const left = script_.subspan(place_);
  auto const close = std::ranges::find_if(left, [](const WebSocketMessage& message) {
    return is_of(message, MessageSender::kOrigin) &&
           (message.kind == MessageKind::kClose || message.kind == MessageKind::kEnd);
  });
  base_ = now;
  // An unexpected close is answered at once.
  if (close != left.end()) base_recorded_ = close->time;
  for (auto at = left.begin(); at != close; ++at) {
    if (is_of(*at, MessageSender::kClient) && at->kind == MessageKind::kClose) {
      base_recorded_ = at->time;
    }
  }
  place_ = static_cast<std::size_t>(close - script_.begin());
}

bool Conversation::is_answer(const WebSocketMessage& pong) {
  auto const found = std::ranges::find_if(open_pings_, [&](std::span<const std::byte> ping) {
    return std::ranges::equal(ping, pong.payload);
  });
  if (found == open_pings_.end()) return false;
  open_pings_.erase(open_pings_.begin(), found + 1);
  return true;
}

bool Conversation::passes(const WebSocketMessage& message) {
  if (is_of(message, MessageSender::kOrigin)) {
    return message.kind == MessageKind::kPong && is_answer(message);
  }
  switch (message.kind) {
    case MessageKind::kClose:
      if (!client_closed_) return false;
      base_ = *client_closed_;
      break;
    case MessageKind::kText:
    case MessageKind::kBinary:
      if (!message.fin) return true;
      if (first_received_ == received_.size()) return false;
      base_ = received_[first_received_++];
      if (first_received_ == received_.size()) {
        received_.clear();
        first_received_ = 0;
      }
      break;
    case MessageKind::kPing:
      if (open_pings_.size() == kOpenPingsMax) open_pings_.erase(open_pings_.begin());
      open_pings_.push_back(message.payload);
      return true;
    case MessageKind::kPong:
    case MessageKind::kEnd:
      return true;
  }
  base_recorded_ = message.time;
  return true;
}

Conversation::Step Conversation::next(Time now) {
  constexpr auto kEnd = Step::Kind::kEnd;
  if (origin_closed_) {
    if (client_closed_ || now >= *origin_closed_ + kCloseTimeout) return {.kind = kEnd};
    return {.at = *origin_closed_ + kCloseTimeout};
  }
  while (place_ < script_.size() && passes(script_[place_])) ++place_;
  if (place_ == script_.size()) {
    // A recording that ended first has no messages after that.
    return client_closed_ ? Step{.kind = Step::Kind::kAnswerClose} : Step{};
  }
  auto const& message = script_[place_];
  if (is_of(message, MessageSender::kClient)) return {};
  auto const due = std::max(base_ + pause_between(base_recorded_, message.time), last_sent_);
  if (now < due) return {.at = due};
  ++place_;
  last_sent_ = due;
  if (message.kind == MessageKind::kEnd) return {.kind = kEnd};
  if (message.kind == MessageKind::kClose) origin_closed_ = now;
  bool const data = is_data(message.kind);
  if (data && message.fin) ++counts_.origin_sent;
  return {.kind = Step::Kind::kSend,
          .message = &message,
          .continues = data && std::exchange(sending_piece_, !message.fin)};
}

}  // namespace reprise
