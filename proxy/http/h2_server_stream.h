#pragma once

#include <string>

#include "proxy/http/h2_session.h"
#include "proxy/http/stand_still.h"
#include "proxy/stream/byte_stream.h"

namespace reprise {

/// One exchange with an HTTP/2 client: its request's content and the writer of its response. Used
/// again for another when it is over.
class H2ServerStream final : public H2Content, public ResponseWriter {
 public:
  H2ServerStream(H2Session& session, std::int32_t id) : H2Content(session, id), session_(session) {}

  /// As new, for the stream `id`.
  void begin(std::int32_t id);
  /// Takes the request's head over, whole; `fields` gets memory that is of no use here any more.
  void keep_head(H2Head& fields) { std::swap(head_, fields); }
  const H2Head& head() const { return head_; }
  void drop_head() { head_.clear(); }
  H2Head take_head() { return std::exchange(head_, {}); }
  void set_request(std::string_view method, bool expects_continue) {
    method_ = method;
    expects_continue_ = expects_continue;
  }
  /// Of an extended CONNECT; status 101 then agrees to it.
  void set_protocol(std::string_view protocol) { asks_protocol_ = !protocol.empty(); }

  /// A client that waits to be asked for its content is asked by whoever wants to read it.
  Task<Bytes> read() override;

  Task<void> send_head(const ResponseHead& head) override;
  /// With no bytes: until the head has gone, which an abort right behind it would take back.
  Task<void> write(Bytes bytes) override;
  Task<void> finish(HeaderList trailers) override;
  Task<void> send_stored(StoredResponsePtr response) override;
  /// Hands all of it over at once; the stream is open.
  void answer(StoredResponsePtr stored);
  /// The stream is closed: nothing of what it was answered with is sent any more.
  void let_go() { answered_ = nullptr; }
  bool head_sent() const override { return head_sent_; }
  Task<void> pause_until(std::chrono::steady_clock::time_point at) override {
    return H2Content::pause_until(at);
  }
  awaitable<void> client_gone() override { return await_close(); }
  bool finished_sending() const { return finished_; }

  /// Whether it has waited for its client alone for longer than `patience`. What waits for its turn
  /// or for the connection's window does not count.
  bool stalls_over(std::chrono::seconds patience, std::chrono::steady_clock::time_point now);

  /// Its head is whole, and it is not closed: it counts as something that goes on.
  bool active = false;
  /// A handler works on it.
  bool running = false;
  /// Of its head and trailers, as they are kept.
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
  bool head_sent_ = false;
  bool has_content_ = false;
  bool finished_ = false;
  bool expects_continue_ = false;
  bool asks_protocol_ = false;
  bool switched_ = false;
  StandStill stand_still_;
};

}  // namespace reprise
