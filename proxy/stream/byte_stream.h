#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/bytes.h"
#include "proxy/stream/net.h"

namespace reprise {

/// Bytes to send. If they are also in a file, a plain-text stream lets the kernel send them from
/// there (sendfile(2)), which saves a copy; the file must not change meanwhile.
struct Piece {
  Piece() = default;
  Piece(Bytes in_memory) : bytes(in_memory) {}  // NOLINT: a piece is mostly just its bytes
  Piece(Bytes in_memory, int file_descriptor, std::int64_t file_offset)
      : bytes(in_memory), file(file_descriptor), offset(file_offset) {}

  Piece subspan(std::size_t from) const {
    return {bytes.subspan(from), file, offset + static_cast<std::int64_t>(from)};
  }

  Bytes bytes;
  int file = -1;  ///< borrowed; -1: only in memory
  std::int64_t offset = 0;
};

/// The unsent rest of some pieces. Borrows them.
class Outgoing {
 public:
  explicit Outgoing(std::span<const Piece> pieces) : rest_(pieces) { advance(0); }

  bool empty() const { return first_.bytes.empty(); }
  /// The rest of the next piece; empty only if everything was sent.
  const Piece& front() const { return first_; }
  /// The pieces after it.
  std::span<const Piece> behind() const { return rest_; }
  /// The bytes left, counted up to `limit_bytes`.
  std::size_t size_up_to(std::size_t limit_bytes) const;
  /// Removes `size_bytes` from the front.
  void advance(std::size_t size_bytes);

 private:
  Piece first_;
  std::span<const Piece> rest_;
};

/// A connected, non-blocking byte stream: plain TCP (TcpStream), TLS over TCP (TlsStream), or, in
/// tests, memory. One read and one write may be awaited at the same time; all on one thread. After
/// end or error a stream is finished: do not read again.
class ByteStream {
 public:
  ByteStream() = default;
  virtual ~ByteStream() = default;
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;

  /// Reads at least one byte into `buffer`; 0 is the orderly end. Errors: the socket's, TLS's.
  virtual Task<std::size_t> read_some(std::span<std::byte> buffer) = 0;

  /// Sends as much as possible without waiting. True: everything was sent; otherwise call write()
  /// for the rest. Not during another write. Errors: the socket's, TLS's.
  virtual Result<bool> write_now(Outgoing& pieces) = 0;

  /// Writes the rest, gathered. Suspends while the peer does not accept it: this suspension is the
  /// backpressure. The pieces must stay valid until it returns.
  Task<void> write(Outgoing& pieces);
  Task<void> write(std::span<const Piece> pieces);
  Task<void> write(Bytes bytes);

  /// Ends our direction in order (FIN, and close_notify before it on TLS).
  virtual awaitable<void> shutdown() = 0;

  /// Ends both directions at once; pending operations end with an error. Idempotent.
  virtual void close() = 0;
  /// As close(), and resets the connection, so that the peer does not take the data as complete.
  virtual void abort() = 0;
  /// The number of written bytes (over TLS encrypted ones) that abort() would discard, as the
  /// peer's system has not acknowledged them. 0 if the connection is broken.
  virtual std::size_t undelivered_bytes() = 0;

  /// Returns once the peer has broken the connection, or ended its direction some time ago and was
  /// sent nothing since (HalfClosed): it can end it right after its request and still wait for the
  /// answer. Reads nothing; can be cancelled. One wait at a time.
  virtual awaitable<void> peer_gone() = 0;
  /// Whether the peer has ended its direction or broken the connection.
  virtual bool peer_ended() = 0;
  /// Whether the peer has neither ended nor sent unread bytes. If not, an idle connection cannot be
  /// reused.
  virtual bool idle() = 0;

  // A peer that is always ready must not monopolise the thread: after this many bytes without a
  // wait, others run. The decompressed size of a peer's bytes counts as well.
  void count_work(std::size_t bytes) { turn_bytes_ += bytes; }
  bool turn_is_over() const { return turn_bytes_ >= kTurnBytes; }
  awaitable<void> yield_turn();

  /// Whether a write is running: then another is not permitted.
  bool writing() const { return writing_; }

  /// The number of the peer's bytes that this stream has delivered.
  std::uint64_t bytes_read() const { return bytes_read_; }
  std::uint64_t bytes_written() const { return bytes_written_; }

 protected:
  /// Returns once write_now() may accept more, or fails.
  virtual awaitable<void> wait_writable() = 0;

  void begin_turn() { turn_bytes_ = 0; }
  void count_read(std::size_t bytes) { turn_bytes_ += bytes, bytes_read_ += bytes; }
  /// The same for bytes whose work was counted when their ciphertext arrived.
  void count_content(std::size_t bytes) { bytes_read_ += bytes; }
  void count_written(std::size_t bytes) { turn_bytes_ += bytes, bytes_written_ += bytes; }

 private:
  static constexpr std::size_t kTurnBytes = 1 << 20;

  std::uint64_t bytes_read_ = 0;
  std::uint64_t bytes_written_ = 0;
  std::size_t turn_bytes_ = 0;
  bool writing_ = false;
};

}  // namespace reprise
