#include "proxy/stream/byte_stream.h"

#include <algorithm>
#include <boost/asio/post.hpp>

namespace reprise {

void Outgoing::advance(std::size_t size_bytes) {
  while (size_bytes >= first_.bytes.size()) {
    size_bytes -= first_.bytes.size();
    if (rest_.empty()) {
      first_ = {};
      return;
    }
    first_ = rest_.front();
    rest_ = rest_.subspan(1);
  }
  first_ = first_.subspan(size_bytes);
}

std::size_t Outgoing::size_up_to(std::size_t limit_bytes) const {
  std::size_t size = first_.bytes.size();
  for (const Piece& piece : rest_) {
    if (size >= limit_bytes) break;
    size += piece.bytes.size();
  }
  return std::min(size, limit_bytes);
}

awaitable<void> ByteStream::yield_turn() {
  turn_bytes_ = 0;
  co_await net::post(co_await net::this_coro::executor, net::deferred);
}

Task<void> ByteStream::write(Bytes bytes) {
  Piece const piece(bytes);
  co_return co_await write(std::span(&piece, 1));
}

Task<void> ByteStream::write(std::span<const Piece> pieces) {
  Outgoing outgoing(pieces);
  co_return co_await write(outgoing);
}

Task<void> ByteStream::write(Outgoing& pieces) {
  writing_ = true;
  while (true) {
    auto const done = write_now(pieces);
    if (!done || *done) {
      writing_ = false;
      if (!done) co_return fail(done.error());
      co_return Result<void>{};
    }
    if (turn_is_over()) {
      co_await yield_turn();
    } else {
      co_await wait_writable();
    }
  }
}

}  // namespace reprise
