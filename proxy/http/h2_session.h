#pragma once

// HTTP/2 framing (RFC 9113) by nghttp2, and the parts shared by both sides of a connection: moving
// bytes between the session and the stream. The content of its streams: h2_content.h.

#include <nghttp2/nghttp2.h>

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "proxy/http/h2_content.h"
#include "proxy/http/h2_frame_check.h"
#include "proxy/stream/byte_stream.h"

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

/// An HTTP/2 connection, either side. One thread.
class H2Session {
 public:
  /// Frames are made so far ahead of the stream, all at once.
  static constexpr std::size_t kGatherBytes = 64 << 10;

  H2Session(const H2Session&) = delete;
  H2Session& operator=(const H2Session&) = delete;
  virtual ~H2Session();

  /// Moves bytes until the connection has ended. Errors: why it broke.
  Task<void> run();

  /// Call it when something may be ready to send.
  void wake();

  nghttp2_session* raw() const { return session_.get(); }
  ByteStream& stream() { return stream_; }

 protected:
  explicit H2Session(ByteStream& stream) : stream_(stream) {}
  static NgHttp2CallbacksPtr make_callbacks();
  /// The settings of nghttp2 for both sides, including the limits for peers.
  static NgHttp2OptionPtr make_options();

  /// Finds invalid frames in the peer's next bytes that nghttp2 would accept.
  virtual std::optional<H2FrameCheck::Refusal> refusal_in(Bytes) { return std::nullopt; }

  // Callbacks from nghttp2, in the middle of its work: nothing may be sent here.
  virtual void on_begin_frame(const nghttp2_frame_hd&) {}
  virtual void on_begin_head(const nghttp2_frame& frame) = 0;
  /// A complete head, or trailers. `fields` may be swapped for others, whose memory is then reused.
  virtual void on_head(const nghttp2_frame& frame, H2Content& content, H2Head& fields) = 0;
  virtual void on_closed(H2Content& content) = 0;
  virtual void on_settings(std::span<const nghttp2_settings_entry>) {}
  virtual void on_goaway() {}
  virtual void on_goaway_sent() {}
  virtual void on_ping_answered() {}
  /// The end of our direction of a stream is being sent.
  virtual void on_end_sent(H2Content&) {}

  /// Called after all received bytes were processed.
  virtual void on_batch() {}
  /// One direction of the connection has ended; the other one is useful only for a moment.
  virtual void on_half_over() = 0;

  H2Content* content_of(std::int32_t stream_id) const;
  /// Bytes of content passed to the stream.
  std::uint64_t content_sent_bytes() const { return content_sent_bytes_; }

  ByteStream& stream_;
  NgHttp2SessionPtr session_;

 private:
  struct Callbacks;
  static constexpr std::size_t kReadBytes = 32 << 10;
  /// With its head, a DATA frame of this size fills a TLS record.
  static constexpr std::size_t kFrameHeadBytes = 9;
  static constexpr std::size_t kDataBytesMax = (16 << 10) - kFrameHeadBytes;
  /// Smaller pieces of content are copied: that costs less than to remember them.
  static constexpr std::size_t kBorrowedBytesMin = 4 << 10;
  /// With more frames waiting to be sent, nothing is read: a peer that reads no answers must not
  /// make us collect them.
  static constexpr std::size_t kFramesWaitingMax = 4096;

  Task<void> read_loop();
  /// Errors: invalid bytes, which are reported to the peer.
  Task<void> work_in(Bytes bytes);
  /// Returns what nghttp2 must do next.
  int take_field(std::string_view name, std::string_view value);
  Task<void> write_loop();
  /// Fills pieces_ from the session. False if nothing is to be sent.
  Result<bool> gather();
  /// Appends a piece of content that `owner` keeps valid, without a copy.
  void borrow(Bytes content, const StoredResponsePtr& owner);
  /// Forgets what was gathered: everything was sent.
  void forget_gathered();
  /// Sends without waiting. False: the bytes in pending_ have to wait.
  Result<bool> send_now();
  /// The same from outside the write loop, which then does the rest.
  void flush();
  bool is_over() const;
  /// After nghttp2 has rejected the peer's bytes: sends the reason to the peer.
  void say_goodbye(int library_code);

  H2Head arriving_;  // for one stream at a time (section 4.3)
  /// Content to be sent between the bytes of out_.
  struct Borrowed {
    std::size_t after_bytes;  // of out_
    Bytes content;
  };
  std::vector<std::byte> out_;              // frames, without borrowed content
  std::vector<Borrowed> borrowed_;          // in order
  std::vector<StoredResponsePtr> lenders_;  // a stream may end before its bytes are sent
  std::size_t gathered_bytes_ = 0;          // out_ and borrowed_
  std::uint64_t content_sent_bytes_ = 0;
  std::vector<Piece> pieces_;        // all that was gathered
  std::optional<Outgoing> pending_;  // the rest of pieces_, if any
  bool paused_ = false;              // nghttp2 is paused, in the middle of a head
  bool writer_busy_ = false;         // the write loop has replaced wake()
  bool flush_follows_ = false;       // the read loop is running, and will send the output
  bool ended_ = false;               // no more will be read
  bool sending_over_ = false;        // no more will be sent
  Event writable_;
  Event gathered_;
};

}  // namespace reprise
