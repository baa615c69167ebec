#pragma once

// The contents of an HTTP/2 stream (RFC 9113 section 8): the fields of a head as they arrive, and
// content in both directions under flow control.

#include <nghttp2/nghttp2.h>

#include <string>
#include <utility>
#include <vector>

#include "proxy/http/event.h"
#include "proxy/http/handler.h"

namespace reprise {

/// Errors of the protocol, by RFC 9113 section 7's codes.
const std::error_category& h2_category();

/// Limit for a head's names and values, in bytes; a longer one resets the stream.
inline constexpr std::size_t kH2HeadBytesMax = 256 << 10;
/// Limit for a decoded head, in bytes; a longer one ends the connection: a frame of a few bytes can
/// decompress to millions, and cost as much.
inline constexpr std::size_t kH2UnfoldedBytesMax = 2 * kH2HeadBytesMax;

/// A head or trailers, as one text.
class H2Head {
 public:
  /// Fields beyond kH2HeadBytesMax or kHeadFieldsMax are dropped.
  void add(std::string_view name, std::string_view value);
  bool too_long() const { return too_long_; }
  /// The size of everything added, as SETTINGS_MAX_HEADER_LIST_SIZE counts it (RFC 9113 section
  /// 6.5.2).
  std::size_t unfolded_bytes() const { return unfolded_bytes_; }
  std::size_t size_bytes() const { return text_.size(); }
  /// Views into this object; invalid once it moves.
  std::vector<HeaderView> fields() const;
  /// The same in `fields`, whose memory is reused.
  void read_into(std::vector<HeaderView>& fields) const;
  /// Makes room for what most heads have.
  void reserve();
  /// Clears the head and keeps its memory, unless that is large.
  void clear();

 private:
  struct Field {
    std::uint32_t name_bytes;
    std::uint32_t value_bytes;
  };
  std::string text_;
  std::vector<Field> fields_;
  std::size_t unfolded_bytes_ = 0;
  bool too_long_ = false;
};

class H2Session;

/// The content of a stream in both directions: received, and to be sent. It is the stream's user
/// data in nghttp2. Lives until the stream is closed and its user has finished with it.
class H2Content : public BodyReader {
 public:
  H2Content(H2Session& session, std::int32_t stream_id) : session_(&session), id_(stream_id) {}
  /// Returns the unread part of the connection's window to the peer.
  ~H2Content() override;
  H2Content(const H2Content&) = delete;
  H2Content& operator=(const H2Content&) = delete;

  // Receiving: bytes are acknowledged, for the windows of stream and connection, only after they
  // were read. So the two windows limit what is held here.
  Task<Bytes> read() override;
  bool finished() const override { return ended_ && incoming_.empty(); }
  HeaderList trailers() const override { return trailers_.list(); }

  // Sending.
  /// Suspends until the peer's window has accepted all of `bytes`. Errors: the stream's.
  Task<void> write(Bytes bytes);
  /// Suspends until the head before the content has been sent: a reset would discard it. Only if
  /// there may be content. Errors: as write().
  Task<void> flush_head();
  /// Suspends until the session has accepted the end. Errors: as write().
  Task<void> finish(HeaderList trailers);
  /// Sends a prepared body without waiting.
  void send_whole(StoredResponsePtr response);
  /// The stream is closed: no more of the prepared body will be sent.
  void drop_whole() { whole_ = nullptr; }
  nghttp2_data_provider provider();

  /// Returns at `at`, or after hurry(). Errors: as write().
  Task<void> pause_until(std::chrono::steady_clock::time_point at);
  /// For the end of the server: waits return at once.
  void hurry() {
    hurries_ = true;
    drained_.set();
  }

  /// Returns once the stream is closed.
  awaitable<void> await_close() {
    while (!closed_) co_await close_.wait();
  }
  /// An error once the stream is closed.
  Result<void> broken() const;

  // For the session.
  std::int32_t id() const { return id_; }
  void set_id(std::int32_t id) { id_ = id; }
  /// Discards unread content and returns its share of the window to the peer.
  void drop_unread();
  /// Resets this object for another stream; no coroutine may wait on the old one.
  void reuse(std::int32_t id);
  void took(Bytes bytes);
  void end_incoming(Headers trailers);
  void close(std::uint32_t error_code);
  bool closed() const { return closed_; }
  /// Whether the peer's direction has ended, read or not.
  bool ended() const { return ended_; }
  bool end_sent() const { return end_sent_; }
  /// Whether there is content that has not been sent yet.
  bool content_waits() const { return !outgoing_.empty() || finishing_; }
  /// Whether a coroutine waits for content from the peer.
  bool awaits_content() const { return awaits_content_; }
  /// Bytes of content received plus bytes sent.
  std::uint64_t moved_bytes() const { return moved_bytes_; }
  bool anything_arrived() const { return ended_ || !incoming_.empty(); }

 private:
  friend class H2Session;
  ssize_t next_piece(std::size_t limit_bytes, std::uint32_t& flags);
  Bytes take_piece(std::size_t size_bytes);
  void submit_trailers();
  /// Lets the peer send `size_bytes` more on the connection.
  void release(std::size_t size_bytes);

  H2Session* session_;
  std::int32_t id_;

  std::vector<std::byte> incoming_;
  std::vector<std::byte> reading_;  // the last result of read()
  bool ended_ = false;
  bool awaits_content_ = false;
  std::uint64_t moved_bytes_ = 0;
  Headers trailers_;
  Event readable_;

  Bytes outgoing_;
  StoredResponsePtr whole_;
  std::size_t next_whole_piece_ = 0;
  bool finishing_ = false;
  bool head_gone_ = false;  // the session has asked for content
  HeaderList outgoing_trailers_;
  bool end_sent_ = false;
  bool hurries_ = false;
  Event drained_;  // for a writer, or a pause before writing

  bool closed_ = false;
  std::uint32_t error_code_ = 0;
  Event close_;
};

}  // namespace reprise
