#pragma once

#include <functional>

#include "proxy/stream/byte_stream.h"
#include "proxy/stream/half_closed.h"

namespace reprise {

/// Shared by streams over a connected TCP socket. All on the thread of the socket's io_context.
class SocketStream : public ByteStream {
 public:
  void close() override;
  void abort() override;
  std::size_t undelivered_bytes() override;
  /// Called by abort() before it closes: a socket other than TCP has no reset.
  void set_on_abort(std::function<void()> on_abort) { on_abort_ = std::move(on_abort); }
  awaitable<void> peer_gone() override;
  bool peer_ended() override;

  tcp::socket& socket() { return socket_; }

 protected:
  explicit SocketStream(tcp::socket socket);

  /// recv(2), without waiting. 0 is the end; operation_would_block if there is no data.
  Result<std::size_t> receive_now(std::span<std::byte> buffer);
  /// The same, but waits for at least one byte.
  Task<std::size_t> receive(std::span<std::byte> buffer);
  /// The socket may have data again, whatever the last receive_now() returned.
  void expect_more() { drained_ = false; }

  awaitable<void> wait_writable() override;
  bool is_open() const { return socket_.is_open(); }

  tcp::socket socket_;

 private:
  short hang_up();

  HalfClosed half_closed_;
  bool drained_ = false;  // the last recv(2) returned less than requested: another would block
  std::function<void()> on_abort_;
};

/// Plain TCP.
class TcpStream final : public SocketStream {
 public:
  explicit TcpStream(tcp::socket socket) : SocketStream(std::move(socket)) {}
  Task<std::size_t> read_some(std::span<std::byte> buffer) override;
  Result<bool> write_now(Outgoing& pieces) override;
  awaitable<void> shutdown() override;
  bool idle() override;
};

}  // namespace reprise
