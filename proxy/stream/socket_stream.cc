#include "proxy/stream/socket_stream.h"

#include <linux/sockios.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <boost/asio/steady_timer.hpp>
#include <chrono>

#include "base/system/last_error.h"

namespace reprise {
namespace {

/// Below this size a copy costs less than another system call.
constexpr std::size_t kFileBytesMin = 16 << 10;
constexpr std::size_t kGatherMax = 64;
constexpr std::chrono::milliseconds kPeerPollPeriod{250};
/// Of poll(2): the connection is over in both directions.
constexpr int kBroken = POLLHUP | POLLERR | POLLNVAL;

bool would_block() {
  return errno == EAGAIN || errno == EWOULDBLOCK;
}

bool comes_from_file(const Piece& piece) {
  return piece.file >= 0 && piece.bytes.size() >= kFileBytesMin;
}

ssize_t send_from_file(int socket, const Piece& piece) {
  off_t offset = piece.offset;
  return ::sendfile(socket, piece.file, &offset, piece.bytes.size());
}

/// The pieces up to the next one from a file, with which they share packets.
ssize_t send_from_memory(int socket, const Outgoing& pieces) {
  std::array<iovec, kGatherMax> vectors;
  std::size_t used = 0;
  int flags = MSG_NOSIGNAL;
  auto const add = [&](const Piece& piece) {
    vectors[used++] = {const_cast<std::byte*>(piece.bytes.data()), piece.bytes.size()};
  };
  add(pieces.front());
  for (const Piece& piece : pieces.behind()) {
    if (comes_from_file(piece)) flags |= MSG_MORE;
    if (comes_from_file(piece) || used == kGatherMax) break;
    if (!piece.bytes.empty()) add(piece);
  }
  if (used == 1) return ::send(socket, vectors[0].iov_base, vectors[0].iov_len, flags);
  msghdr message{};
  message.msg_iov = vectors.data();
  message.msg_iovlen = used;
  return ::sendmsg(socket, &message, flags);
}

}  // namespace

SocketStream::SocketStream(tcp::socket socket) : socket_(std::move(socket)) {
  boost::system::error_code ignored;  // a broken socket reports that at its first read
  socket_.non_blocking(true, ignored);
  socket_.set_option(tcp::no_delay(true), ignored);
}

awaitable<void> SocketStream::wait_writable() {
  begin_turn();
  // An error of the socket shows when it is written to.
  co_await socket_.async_wait(tcp::socket::wait_write, kTuple);
}

Result<std::size_t> SocketStream::receive_now(std::span<std::byte> buffer) {
  if (!is_open()) return fail(std::make_error_code(std::errc::operation_canceled));
  if (drained_) return fail(std::make_error_code(std::errc::operation_would_block));
  auto const count = ::recv(socket_.native_handle(), buffer.data(), buffer.size(), 0);
  // The end can be read any number of times.
  drained_ = count != 0 && count < static_cast<ssize_t>(buffer.size());
  if (count >= 0) return static_cast<std::size_t>(count);
  if (would_block() || errno == EINTR) {
    return fail(std::make_error_code(std::errc::operation_would_block));
  }
  return fail(last_system_error());
}

Task<std::size_t> SocketStream::receive(std::span<std::byte> buffer) {
  auto const now = receive_now(buffer);
  if (now || now.error() != std::errc::operation_would_block) co_return now;
  begin_turn();
  // Asio tries at once and then waits for the edge, which costs no epoll_ctl(2), unlike its
  // async_wait.
  auto const [error, count] =
      co_await socket_.async_read_some(net::buffer(buffer.data(), buffer.size()), kTuple);
  drained_ = !error && count < buffer.size();
  if (error == net::error::eof) co_return std::size_t{0};
  if (error) co_return fail(error);
  co_return count;
}

short SocketStream::hang_up() {
  pollfd state{.fd = socket_.native_handle(), .events = POLLRDHUP, .revents = 0};
  ::poll(&state, 1, 0);
  return state.revents;
}

bool SocketStream::peer_ended() {
  return !socket_.is_open() || hang_up() != 0;
}

awaitable<void> SocketStream::peer_gone() {
  half_closed_.begin_wait();
  net::steady_timer pause(socket_.get_executor());
  while (socket_.is_open()) {
    auto const state = hang_up();
    if ((state & kBroken) != 0) co_return;
    bool const ended = (state & POLLRDHUP) != 0;
    auto const now = std::chrono::steady_clock::now();
    if (ended && half_closed_.is_gone(now, bytes_written())) co_return;
    std::byte next;
    if (ended || ::recv(socket_.native_handle(), &next, 1, MSG_PEEK | MSG_DONTWAIT) > 0) {
      // Always readable, because of the end or of bytes that wait for their turn.
      pause.expires_after(kPeerPollPeriod);
      co_await pause.async_wait(kTuple);
    } else {
      co_await socket_.async_wait(tcp::socket::wait_read, kTuple);
    }
  }
}

void SocketStream::close() {
  boost::system::error_code ignored;  // nothing else can be done if closing fails
  socket_.close(ignored);
}

void SocketStream::abort() {
  boost::system::error_code ignored;
  if (on_abort_) on_abort_();
  if (socket_.is_open()) socket_.set_option(net::socket_base::linger(true, 0), ignored);
  close();
}

std::size_t SocketStream::undelivered_bytes() {
  // The kernel's number stays as it was when the connection broke.
  if (!is_open() || (hang_up() & kBroken) != 0) return 0;
  int bytes = 0;
  if (::ioctl(socket_.native_handle(), SIOCOUTQ, &bytes) != 0) return 0;
  return static_cast<std::size_t>(std::max(bytes, 0));
}

Task<std::size_t> TcpStream::read_some(std::span<std::byte> buffer) {
  if (turn_is_over()) co_await yield_turn();
  auto const count = co_await receive(buffer);
  if (count) count_read(*count);
  co_return count;
}

Result<bool> TcpStream::write_now(Outgoing& pieces) {
  while (!pieces.empty()) {
    if (!is_open()) return fail(std::make_error_code(std::errc::operation_canceled));
    if (turn_is_over()) return false;
    auto const count = comes_from_file(pieces.front())
                           ? send_from_file(socket_.native_handle(), pieces.front())
                           : send_from_memory(socket_.native_handle(), pieces);
    if (count < 0) {
      if (would_block() || errno == EINTR) return false;
      return fail(last_system_error());
    }
    // The file has become shorter.
    if (count == 0) return fail(std::make_error_code(std::errc::io_error));
    count_written(static_cast<std::size_t>(count));
    pieces.advance(static_cast<std::size_t>(count));
  }
  return true;
}

bool TcpStream::idle() {
  std::byte next;
  auto const count = ::recv(socket_.native_handle(), &next, 1, MSG_PEEK | MSG_DONTWAIT);
  return count < 0 && would_block();
}

awaitable<void> TcpStream::shutdown() {
  boost::system::error_code ignored;  // the peer may have closed
  socket_.shutdown(tcp::socket::shutdown_send, ignored);
  co_return;
}

}  // namespace reprise
