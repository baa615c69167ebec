#pragma once

// HTTP/2 framing (RFC 9113) by nghttp2, and what both sides of a connection share: moving bytes
// between the session and the stream, and the content of a stream in both directions.

#include <nghttp2/nghttp2.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "proxy/http/event.h"
#include "proxy/http/handler.h"

namespace reprise {

template <auto Delete>
struct NgHttp2Deleter {
  template <class T>
  void operator()(T* object) const {
    Delete(object);
  }
};
using NgHttp2SessionPtr = std::unique_ptr<nghttp2_session, NgHttp2Deleter<nghttp2_session_del>>;
using NgHttp2CallbacksPtr =
    std::unique_ptr<nghttp2_session_callbacks, NgHttp2Deleter<nghttp2_session_callbacks_del>>;
using NgHttp2OptionPtr = std::unique_ptr<nghttp2_option, NgHttp2Deleter<nghttp2_option_del>>;

/// Errors of the protocol, by RFC 9113 section 7's codes.
const std::error_category& h2_category();

/// Bytes of a head, names and values, over which a stream is refused.
inline constexpr std::size_t kH2HeadBytesMax = 256 << 10;

class H2Session;

/// One direction each way of a stream: content that arrived and content to be sent. nghttp2 knows
/// it as the stream's user data. Lives until the stream is closed and its user is done with it.
class H2Content : public BodyReader {
 public:
  H2Content(H2Session& session, std::int32_t stream_id) : session_(&session), id_(stream_id) {}
  ~H2Content() override = default;
  H2Content(const H2Content&) = delete;
  H2Content& operator=(const H2Content&) = delete;

  // In: bytes are acknowledged (so that the peer may send more) when they were read, not before.
  Task<Bytes> read() override;
  bool finished() const override { return ended_ && incoming_.empty(); }
  HeaderList trailers() const override { return trailers_.list(); }

  // Out.
  /// Suspends until the peer's window took all of `bytes`.
  Task<void> write(Bytes bytes);
  /// Suspends until the end is in the hands of the session.
  Task<void> finish(HeaderList trailers);
  /// Sends a prepared body without waiting; it must outlive the session.
  void send_whole(const StoredResponse& response);
  nghttp2_data_provider provider();

  /// Returns once the stream is closed.
  awaitable<void> await_close() {
    while (!closed_) co_await close_.wait();
  }
  /// An error once the stream is closed: nothing more comes or goes.
  Result<void> broken() const;

  // For the session.
  std::int32_t id() const { return id_; }
  void set_id(std::int32_t id) { id_ = id; }
  void took(Bytes bytes);
  void end_incoming(Headers trailers);
  void close(std::uint32_t error_code);
  bool closed() const { return closed_; }
  bool began_head() const { return head_began_; }

  /// Fields of the head that is arriving; cleared by each new head.
  void begin_head();
  /// False when the head grows over kH2HeadBytesMax.
  bool add_field(std::string_view name, std::string_view value);
  std::vector<HeaderView> fields() const;

 private:
  friend class H2Session;
  struct Field {
    std::uint32_t name_bytes;
    std::uint32_t value_bytes;
  };
  ssize_t next_piece(std::size_t limit_bytes, std::uint32_t& flags);
  Bytes take_piece(std::size_t size_bytes);

  H2Session* session_;
  std::int32_t id_;

  bool head_began_ = false;
  std::string head_text_;
  std::vector<Field> head_fields_;

  std::vector<std::byte> incoming_;
  std::vector<std::byte> reading_;  // what read() gave out last
  bool ended_ = false;
  Headers trailers_;
  Event readable_;

  Bytes outgoing_;
  const StoredResponse* whole_ = nullptr;
  std::size_t next_whole_piece_ = 0;
  bool finishing_ = false;
  HeaderList outgoing_trailers_;
  Event drained_;

  bool closed_ = false;
  std::uint32_t error_code_ = 0;
  Event close_;
};

/// An HTTP/2 connection, either side. One thread.
class H2Session {
 public:
  H2Session(const H2Session&) = delete;
  H2Session& operator=(const H2Session&) = delete;
  virtual ~H2Session();

  /// Moves bytes until the connection has ended. Errors: why it broke.
  Task<void> run();

  /// Something may be ready to be sent. Sends what goes without waiting.
  void wake();

  nghttp2_session* raw() const { return session_.get(); }
  ByteStream& stream() { return stream_; }

 protected:
  explicit H2Session(ByteStream& stream) : stream_(stream) {}
  static NgHttp2CallbacksPtr make_callbacks();

  // What nghttp2 tells, in the middle of its work: nothing may be sent here.
  virtual void on_begin_head(const nghttp2_frame& frame) = 0;
  virtual void on_head(const nghttp2_frame& frame, H2Content& content) = 0;
  virtual void on_closed(H2Content& content) = 0;
  virtual void on_settings(std::span<const nghttp2_settings_entry>) {}
  virtual void on_goaway() {}
  /// After everything that was read is worked in.
  virtual void on_batch() {}

  H2Content* content_of(std::int32_t stream_id) const;

  ByteStream& stream_;
  NgHttp2SessionPtr session_;

 private:
  struct Callbacks;
  static constexpr std::size_t kReadBytes = 32 << 10;
  static constexpr std::size_t kGatherBytes = 64 << 10;

  Task<void> read_loop();
  Task<void> write_loop();
  /// Fills out_ from the session. False when nothing is to be sent.
  Result<bool> gather();

  std::vector<std::byte> out_;
  bool writer_busy_ = false;  // the write loop has taken over from wake()
  bool in_callbacks_ = false;
  bool ended_ = false;
  Event writable_;
};

}  // namespace reprise
