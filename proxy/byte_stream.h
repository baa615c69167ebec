#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "proxy/net.h"

namespace reprise {

using Bytes = std::span<const std::byte>;

/// A connected, non-blocking byte stream over TCP: clear (TcpStream) or TLS (TlsStream).
/// One read and one write may be awaited at the same time; all on the thread of its io_context.
/// After end or error a stream is finished: do not read again.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;

  /// Reads at least one byte into `buffer`; 0 is the orderly end. Errors: the socket's, TLS's.
  Task<std::size_t> read_some(std::span<std::byte> buffer);

  /// Writes all of `pieces`, gathered. Suspends while the peer does not take them: this suspension
  /// is the backpressure. The pieces must stay valid until it returns.
  Task<void> write(std::span<const Bytes> pieces);
  Task<void> write(Bytes piece);

  /// Ends our direction in order (FIN, and close_notify before it on TLS).
  virtual awaitable<void> shutdown() = 0;

  /// Ends both directions at once; pending operations end with an error. Idempotent.
  void close();
  /// As close(), and the peer gets a reset: it must not take what it has for the whole.
  void abort();

  /// Returns once the peer has broken the connection, or ended its direction some time ago (a peer
  /// that ends it right behind its request may yet wait for the answer). Takes no bytes; may be
  /// cancelled.
  awaitable<void> peer_gone();
  /// Whether the peer has ended its direction or broken the connection.
  bool peer_ended();
  /// Whether the peer has neither ended nor sent anything that was not read: an idle connection of
  /// which this is not true is of no more use.
  virtual bool idle() = 0;

  tcp::socket& socket() { return socket_; }

  /// Whether a write is under way: then there must not be another.
  bool writing() const { return writing_; }

  /// Bytes of the peer that this stream delivered and took so far.
  std::uint64_t bytes_read() const { return bytes_read_; }
  std::uint64_t bytes_written() const { return bytes_written_; }

 protected:
  explicit ByteStream(tcp::socket socket);

  enum class Wait : std::uint8_t { kNone, kReadable, kWritable };
  struct Step {
    std::size_t bytes = 0;
    Wait wait = Wait::kNone;  ///< otherwise bytes is 0 and the call is to be repeated after it
    std::error_code error;
  };
  /// Tries without blocking. bytes == 0 with neither wait nor error is the end.
  virtual Step try_read(std::span<std::byte> buffer) = 0;
  /// Tries to write from the front of `pieces`; may take part of them.
  virtual Step try_write(std::span<const Bytes> pieces) = 0;

  Task<void> wait(Wait direction);
  Task<void> write_all(std::span<const Bytes> pieces);

  tcp::socket socket_;

 private:
  /// A peer that is always ready must not keep the thread: after this much in a row the stream
  /// lets others run.
  static constexpr std::size_t kTurnBytes = 1 << 20;
  bool turn_is_over(std::size_t bytes);
  short hang_up();

  std::uint64_t bytes_read_ = 0;
  std::uint64_t bytes_written_ = 0;
  std::size_t turn_bytes_ = 0;
  bool writing_ = false;
};

class TcpStream final : public ByteStream {
 public:
  explicit TcpStream(tcp::socket socket) : ByteStream(std::move(socket)) {}
  awaitable<void> shutdown() override;
  bool idle() override;

 protected:
  Step try_read(std::span<std::byte> buffer) override;
  Step try_write(std::span<const Bytes> pieces) override;
};

inline Bytes as_bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}
inline std::string_view as_text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace reprise
