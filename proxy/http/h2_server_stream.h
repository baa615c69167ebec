#pragma once

#include <string>

#include "proxy/http/h2_fields.h"
#include "proxy/http/h2_session.h"
#include "proxy/http/stand_still.h"
#include "proxy/stream/byte_stream.h"

namespace reprise {

/// One exchange with an HTTP/2 client: its request's content and the writer of its response. Reused
/// for another exchange afterwards.
class H2ServerStream final : public H2Content, public ResponseWriter {
 public:
  H2ServerStream(H2Session& session, std::int32_t id) : H2Content(session, id), session_(session) {}

  /// Resets it for the stream `id`.
  void begin(std::int32_t id);
  /// Stores the request's complete head; `fields` gets memory that is no longer needed here.
  void keep_head(H2Head& fields) { std::swap(head_, fields); }
  const H2Head& head() const { return head_; }
  void drop_head() { head_.clear(); }
  H2Head take_head() { return std::exchange(head_, {}); }
  void set_request(std::string_view method, bool expects_continue) {
    method_ = method;
    expects_continue_ = expects_continue;
  }
  /// Of an extended CONNECT; status 101 then accepts it.
  void set_protocol(std::string_view protocol) { asks_protocol_ = !protocol.empty(); }

  /// The first read sends 100 to a client that waits for it.
  Task<Bytes> read() override;

  /// Interim heads do not wait for the client. Errors: enhance_your_calm if there are too many.
  Task<void> send_head(const ResponseHead& head) override;
  /// Without bytes: waits until the head has been sent, which an immediate abort would discard.
  Task<void> write(Bytes bytes) override;
  Task<void> finish(HeaderList trailers) override;
  Task<void> send_stored(StoredResponsePtr response) override;
  /// Passes on the whole response at once; the stream is open.
  void answer(StoredResponsePtr stored);
  /// The stream is closed: no more of its answer will be sent.
  void let_go() {
    answered_ = nullptr;
    drop_whole();
  }
  bool head_sent() const override { return head_sent_; }
  Task<void> pause_until(std::chrono::steady_clock::time_point at) override {
    return H2Content::pause_until(at);
  }
  awaitable<void> client_gone() override { return await_close(); }
  bool finished_sending() const { return finished_; }

  /// Whether the client has used up this stream's own window, whatever it takes of others.
  bool window_is_closed() const;
  /// Whether it has waited only for its client for longer than `patience`. Waiting for its turn or
  /// for the connection's window does not count.
  bool stalls_over(std::chrono::seconds patience, std::chrono::steady_clock::time_point now);

  /// Its head is complete, and it is not closed.
  bool active = false;
  /// A handler uses it.
  bool running = false;
  /// The memory of its head and trailers.
  std::size_t head_bytes = 0;

 private:
  std::unexpected<std::error_code> gone() const;
  void submit_interim(const ResponseHead& head);
  void switch_protocols(const ResponseHead& head);
  void respond(const nghttp2_nv* fields, std::size_t count);

  H2Session& session_;
  H2Head head_;
  std::string method_;
  StoredResponsePtr answered_;  // the session borrows from it
  InterimLimit interim_limit_;
  bool head_sent_ = false;
  bool has_content_ = false;
  bool finished_ = false;
  bool expects_continue_ = false;
  bool asks_protocol_ = false;
  bool switched_ = false;
  StandStill stand_still_;
};

}  // namespace reprise
