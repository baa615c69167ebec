#pragma once

#include <nghttp3/nghttp3.h>

#include <list>
#include <string>
#include <vector>

#include "proxy/http/event.h"
#include "proxy/http/h2_content.h"
#include "proxy/http/handler.h"
#include "proxy/http/stand_still.h"
#include "proxy/quic/recycled_memory.h"

namespace reprise {

/// Errors of the protocol, by RFC 9114 section 8.1's codes.
const std::error_category& h3_category();

/// The connection, as its streams see it.
class H3Streams {
 public:
  virtual ~H3Streams() = default;
  virtual nghttp3_conn* raw() const = 0;
  /// Something may be ready to send.
  virtual void wake() = 0;
  /// The client may send that much more. A stream that is closed only returns it to the connection.
  virtual void extend(std::int64_t stream, bool open, std::uint64_t size_bytes) = 0;
  /// Resets the stream soon, from anywhere.
  virtual void reset_soon(std::int64_t stream, std::uint64_t code) = 0;
  /// Ends the connection: an assertion failed in a call of raw().
  virtual void abandon() = 0;
};

/// One exchange with an HTTP/3 client: its request's content and the writer of its response. Lives
/// until QUIC has closed the stream, nghttp3 has dropped it and its handler has returned: sent
/// bytes have to live until the client acknowledged them.
class H3ServerStream final : public BodyReader, public ResponseWriter {
 public:
  H3ServerStream(H3Streams& streams, std::int64_t id) : streams_(streams), id_(id) {}
  ~H3ServerStream() override;
  H3ServerStream(const H3ServerStream&) = delete;
  H3ServerStream& operator=(const H3ServerStream&) = delete;
  static void* operator new(std::size_t size_bytes) {
    return RecyclingAllocator<std::byte>().allocate(size_bytes);
  }
  static void operator delete(void* object) { RecycledMemory::give(object); }

  std::int64_t id() const { return id_; }
  void set_request(std::string_view method, bool expects_continue) {
    method_ = method;
    expects_continue_ = expects_continue;
  }
  /// The Alt-Svc field of a response that has none.
  void set_alt_svc(std::string_view value) { alt_svc_ = value; }

  // BodyReader: bytes are acknowledged, for the windows of stream and connection, only after they
  // were read. So the two windows limit what is held here.
  Task<Bytes> read() override;
  bool finished() const override { return ended_ && incoming_.empty(); }
  HeaderList trailers() const override { return trailers_.list(); }

  Task<void> send_head(const ResponseHead& response) override;
  /// Without bytes: waits until the client has acknowledged the head and everything written, which
  /// a reset would discard. It ends with an error once the stream is closed, at the latest by
  /// stalls_over().
  Task<void> write(Bytes bytes) override;
  Task<void> finish(HeaderList trailers) override;
  Task<void> send_stored(StoredResponsePtr response) override;
  bool head_sent() const override { return head_sent_; }
  Task<void> pause_until(std::chrono::steady_clock::time_point at) override;
  awaitable<void> client_gone() override;
  /// Passes on the whole response at once.
  void answer(StoredResponsePtr stored);
  bool finished_sending() const { return finished_; }

  // For the session.
  void took(Bytes bytes);
  void end_incoming() {
    ended_ = true;
    readable_.set();
  }
  void take_trailers() {
    if (!trailing.too_long()) trailers_ = Headers(trailing.fields());
    trailing = {};
  }
  /// The client takes or sends no more: every wait ends.
  void close(std::uint64_t code);
  bool closed() const { return closed_; }
  void acknowledged(std::uint64_t size_bytes);  ///< of the content
  // Bytes of the QUIC stream: frames with head, content and trailers.
  /// nghttp3 has that much ready to send; `ends`: it is all that is left of the stream.
  void stream_offered(std::size_t size_bytes, bool ends);
  void stream_sent(std::size_t size_bytes);
  void stream_acknowledged(std::uint64_t size_bytes);
  /// For the end of the server: waits return at once.
  void hurry();
  nghttp3_ssize next_piece(nghttp3_vec& piece, std::uint32_t& flags);
  /// Whether it has waited only for its client for longer than `patience`; `blocked`: the client's
  /// window is used up.
  bool stalls_over(std::chrono::seconds patience, bool blocked,
                   std::chrono::steady_clock::time_point now);
  /// Whether a head arrives for longer than `patience`.
  bool head_stalls_over(std::chrono::seconds patience, std::chrono::steady_clock::time_point now) {
    return head_under_way_.lasts_over(patience, active ? std::nullopt : std::optional(1), now);
  }

  H2Head head;           ///< as it arrives, then the request's
  H2Head trailing;       ///< trailers as they arrive
  bool active = false;   ///< its head is complete
  bool running = false;  ///< a handler uses it
  bool gone = false;     ///< QUIC has closed it
  bool in_http = true;   ///< nghttp3 has not dropped it
  /// The memory of its heads.
  std::size_t head_bytes = 0;

 private:
  /// Calls nghttp3, unless the connection is over.
  template <class Work>
  void call(const Work& work);
  Result<void> broken() const;
  void submit_interim(const ResponseHead& interim);
  void respond(const nghttp2_nv* fields, std::size_t count);
  bool load_piece();
  void note_head();
  bool is_behind() const;
  void submit_trailers();

  H3Streams& streams_;
  std::int64_t id_;
  std::string method_;
  std::string alt_svc_;

  std::vector<std::byte> incoming_;
  std::vector<std::byte> reading_;  // the last result of read()
  bool ended_ = false;
  bool awaits_content_ = false;
  Headers trailers_;
  Event readable_;

  StoredResponsePtr answered_;                 // QUIC borrows from it
  std::list<std::vector<std::byte>> written_;  // not acknowledged yet
  std::size_t written_acknowledged_ = 0;       // of the first of them
  Bytes outgoing_;
  std::size_t next_whole_piece_ = 0;
  bool finishing_ = false;
  bool head_gone_ = false;  // nghttp3 has offered the final head
  HeaderList outgoing_trailers_;
  std::uint64_t received_bytes_ = 0;
  std::uint64_t taken_bytes_ = 0;  // by the session, to send
  std::uint64_t acknowledged_bytes_ = 0;
  std::size_t unsent_bytes_ = 0;         // ready in nghttp3
  std::uint64_t stream_sent_bytes_ = 0;  // with the frames around the content
  std::uint64_t stream_acknowledged_bytes_ = 0;
  std::uint64_t sent_before_head_ = 0;  // of stream_sent_bytes_, when head_gone_ became true
  bool flushing_ = false;               // write() waits for acknowledgements
  bool hurries_ = false;
  Event drained_;

  bool head_sent_ = false;
  bool has_content_ = false;
  bool finished_ = false;
  bool expects_continue_ = false;
  bool closed_ = false;
  std::uint64_t code_ = 0;
  Event close_;
  StandStill stand_still_;
  StandStill head_under_way_;
};

}  // namespace reprise
