#include "proxy/byte_stream.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <optional>

namespace reprise {
namespace {

constexpr std::size_t kGatherMax = 64;
constexpr std::chrono::milliseconds kPeerPollPeriod{250};
constexpr std::chrono::seconds kHalfClosedGrace{5};

std::error_code last_error() {
  return {errno, std::system_category()};
}

bool would_block() {
  return errno == EAGAIN || errno == EWOULDBLOCK;
}

}  // namespace

ByteStream::ByteStream(tcp::socket socket) : socket_(std::move(socket)) {
  boost::system::error_code ignored;  // a socket that died already says so at its first read
  socket_.non_blocking(true, ignored);
  socket_.set_option(tcp::no_delay(true), ignored);
}

Task<void> ByteStream::wait(Wait direction) {
  auto const what = direction == Wait::kReadable ? tcp::socket::wait_read : tcp::socket::wait_write;
  turn_bytes_ = 0;
  auto const [error] = co_await socket_.async_wait(what, kTuple);
  if (error) co_return fail(error);
  co_return Result<void>{};
}

bool ByteStream::turn_is_over(std::size_t bytes) {
  turn_bytes_ += bytes;
  if (turn_bytes_ < kTurnBytes) return false;
  turn_bytes_ = 0;
  return true;
}

Task<std::size_t> ByteStream::read_some(std::span<std::byte> buffer) {
  while (true) {
    if (!socket_.is_open()) co_return fail(std::make_error_code(std::errc::operation_canceled));
    Step const step = try_read(buffer);
    if (step.error) co_return fail(step.error);
    if (step.wait == Wait::kNone) {
      bytes_read_ += step.bytes;
      if (turn_is_over(step.bytes)) {
        co_await net::post(socket_.get_executor(), net::deferred);
      }
      co_return step.bytes;
    }
    if (auto const ready = co_await wait(step.wait); !ready) co_return fail(ready.error());
  }
}

Task<void> ByteStream::write(Bytes piece) {
  co_return co_await write(std::span<const Bytes>(&piece, 1));
}

Task<void> ByteStream::write(std::span<const Bytes> pieces) {
  writing_ = true;
  auto const written = co_await write_all(pieces);
  writing_ = false;
  co_return written;
}

Task<void> ByteStream::write_all(std::span<const Bytes> pieces) {
  // Only the first piece can be partly written; `first` is what is left of it.
  Bytes first;
  std::array<Bytes, kGatherMax> window;
  while (true) {
    while (first.empty()) {
      if (pieces.empty()) co_return Result<void>{};
      first = pieces.front();
      pieces = pieces.subspan(1);
    }
    window[0] = first;
    auto const more = std::min(pieces.size(), kGatherMax - 1);
    std::copy_n(pieces.begin(), more, window.begin() + 1);

    if (!socket_.is_open()) co_return fail(std::make_error_code(std::errc::operation_canceled));
    Step const step = try_write(std::span<const Bytes>(window).first(more + 1));
    if (step.error) co_return fail(step.error);
    if (step.wait != Wait::kNone) {
      if (auto const ready = co_await wait(step.wait); !ready) co_return fail(ready.error());
      continue;
    }
    bytes_written_ += step.bytes;
    if (turn_is_over(step.bytes)) {
      co_await net::post(socket_.get_executor(), net::deferred);
    }
    std::size_t left = step.bytes;
    while (left >= first.size() && left > 0) {
      left -= first.size();
      if (pieces.empty()) {
        first = {};
        break;
      }
      first = pieces.front();
      pieces = pieces.subspan(1);
    }
    first = first.subspan(left);
  }
}

short ByteStream::hang_up() {
  pollfd state{.fd = socket_.native_handle(), .events = POLLRDHUP, .revents = 0};
  ::poll(&state, 1, 0);
  return state.revents;
}

bool ByteStream::peer_ended() {
  return !socket_.is_open() || hang_up() != 0;
}

awaitable<void> ByteStream::peer_gone() {
  std::optional<std::chrono::steady_clock::time_point> ended;
  net::steady_timer pause(socket_.get_executor());
  while (socket_.is_open()) {
    auto const state = hang_up();
    if ((state & (POLLHUP | POLLERR | POLLNVAL)) != 0) co_return;
    auto const now = std::chrono::steady_clock::now();
    if ((state & POLLRDHUP) != 0) {
      if (!ended) ended = now;
      if (now - *ended > kHalfClosedGrace) co_return;
    }
    std::byte next;
    if (ended || ::recv(socket_.native_handle(), &next, 1, MSG_PEEK | MSG_DONTWAIT) > 0) {
      // Readable all the time, because of the end or of bytes that wait for their turn.
      pause.expires_after(kPeerPollPeriod);
      co_await pause.async_wait(kTuple);
    } else {
      co_await socket_.async_wait(tcp::socket::wait_read, kTuple);
    }
  }
}

void ByteStream::close() {
  boost::system::error_code ignored;  // closing is all that can be done about a failure to close
  socket_.close(ignored);
}

void ByteStream::abort() {
  boost::system::error_code ignored;
  if (socket_.is_open()) socket_.set_option(net::socket_base::linger(true, 0), ignored);
  close();
}

ByteStream::Step TcpStream::try_read(std::span<std::byte> buffer) {
  auto const count = ::recv(socket_.native_handle(), buffer.data(), buffer.size(), 0);
  if (count >= 0) return {.bytes = static_cast<std::size_t>(count)};
  if (would_block()) return {.wait = Wait::kReadable};
  if (errno == EINTR) return {.wait = Wait::kReadable};
  return {.error = last_error()};
}

ByteStream::Step TcpStream::try_write(std::span<const Bytes> pieces) {
  std::array<iovec, kGatherMax> vectors;
  std::size_t used = 0;
  for (const Bytes piece : pieces) {
    if (piece.empty()) continue;
    vectors[used++] = {const_cast<std::byte*>(piece.data()), piece.size()};
    if (used == kGatherMax) break;
  }
  msghdr message{};
  message.msg_iov = vectors.data();
  message.msg_iovlen = used;
  auto const count = ::sendmsg(socket_.native_handle(), &message, MSG_NOSIGNAL);
  if (count >= 0) return {.bytes = static_cast<std::size_t>(count)};
  if (would_block() || errno == EINTR) return {.wait = Wait::kWritable};
  return {.error = last_error()};
}

bool TcpStream::idle() {
  std::byte next;
  auto const count = ::recv(socket_.native_handle(), &next, 1, MSG_PEEK | MSG_DONTWAIT);
  return count < 0 && would_block();
}

awaitable<void> TcpStream::shutdown() {
  boost::system::error_code ignored;  // the peer may be gone already
  socket_.shutdown(tcp::socket::shutdown_send, ignored);
  co_return;
}

}  // namespace reprise
