#include "proxy/record/web_socket_relay.h"

#include <spdlog/spdlog.h>

#include <boost/asio/experimental/awaitable_operators.hpp>

namespace reprise {

Result<void> MessageTap::see(Bytes bytes) {
  while (!lost_) {
    auto const step = parser_.next(bytes);
    if (!step) {
      spdlog::warn("the {} of a WebSocket sent {}: the rest is not recorded", to_string(sender_),
                   step.error().message());
      lost_ = true;
      break;
    }
    bytes = bytes.subspan(step->consumed);
    if (!step->piece) break;
    if (auto taken = take(*step->piece); !taken) return taken;
  }
  return {};
}

Result<void> MessageTap::take(const WebSocketParser::Piece& piece) {
  if (!is_data(piece.kind) ||
      (piece.ends && held_.empty() && piece.payload.size() <= kPieceBytes)) {
    return keep(piece.kind, true, piece.payload);
  }
  held_.insert(held_.end(), piece.payload.begin(), piece.payload.end());
  while (held_.size() > kPieceBytes) {
    if (auto kept = keep(piece.kind, false, Bytes(held_).first(kPieceBytes)); !kept) return kept;
    held_.erase(held_.begin(), held_.begin() + kPieceBytes);
  }
  if (!piece.ends) return {};
  auto const kept = keep(piece.kind, true, held_);
  held_.clear();
  return kept;
}

Result<void> MessageTap::keep(MessageKind kind, bool fin, Bytes payload) {
  // Another session has no exchange that the message belongs to.
  if (session_.archive().session() != opened_by_.session) return {};
  auto const added = session_.archive().add_message(
      opened_by_.sequence,
      {.sender = sender_, .kind = kind, .fin = fin, .time = session_.now(), .payload = payload});
  if (!added) session_.archive_failed(added.error());
  return added;
}

Result<void> MessageTap::end() {
  return keep(MessageKind::kEnd, true, {});
}

bool WebSocketRelay::is_end(const Result<Bytes>& read) const {
  // Reading is cancelled when the other side has ended.
  return !closed_ && (read || read.error() != std::errc::operation_canceled);
}

Task<void> WebSocketRelay::pass_to_origin() {
  while (true) {
    auto const piece = co_await client_.read();
    if (!piece || piece->empty()) {
      if (is_end(piece)) (void)client_tap_.end();
      co_return piece ? Result<void>{} : fail(piece.error());
    }
    if (auto const seen = client_tap_.see(*piece); !seen) co_return seen;
    if (auto const sent = co_await origin_.write(*piece); !sent) {
      // The origin has ended, which the other direction reports; its remaining messages must still
      // arrive.
      spdlog::debug("cannot send to the origin of a WebSocket: {}", sent.error().message());
    }
  }
}

Task<void> WebSocketRelay::pass_to_client() {
  while (true) {
    auto const piece = co_await origin_.body().read();
    if (!piece || piece->empty()) {
      if (is_end(piece)) (void)origin_tap_.end();
      co_return piece ? Result<void>{} : fail(piece.error());
    }
    if (auto const seen = origin_tap_.see(*piece); !seen) co_return seen;
    if (auto const sent = co_await to_client_.write(*piece); !sent) co_return sent;
  }
}

Task<void> WebSocketRelay::run() {
  using net::experimental::awaitable_operators::operator||;
  auto const first = co_await (pass_to_origin() || pass_to_client());
  bool const client_ended = first.index() == 0;
  auto const& ended = client_ended ? std::get<0>(first) : std::get<1>(first);
  if (client_ended) origin_.abort();
  if (!ended) co_return ended;
  co_return co_await to_client_.finish({});
}

}  // namespace reprise
