#pragma once

#include "proxy/http/event.h"
#include "proxy/http/h1_writer.h"
#include "proxy/http/handler.h"

namespace reprise {

/// The response side of one HTTP/1.x exchange. Borrows everything.
class H1Response final : public ResponseWriter {
 public:
  H1Response(ByteStream& stream, const RequestHead& request)
      : stream_(stream), body_(stream), request_(request) {}

  Task<void> send_head(const ResponseHead& head) override;
  /// Content for HEAD is discarded, so handlers need no special case.
  Task<void> write(Bytes bytes) override;
  Task<void> finish(HeaderList trailers) override;
  Task<void> send_stored(StoredResponsePtr response) override;
  bool head_sent() const override { return head_sent_; }
  Task<void> pause_until(std::chrono::steady_clock::time_point at) override;
  awaitable<void> client_gone() override { return stream_.peer_gone(); }

  /// For the end of the server: waits return at once.
  void hurry() {
    hurries_ = true;
    pause_.set();
  }

  bool continued() const { return continued_; }
  bool finished() const { return finished_; }
  /// Whether the head accepted the requested protocol, which then follows.
  bool switched() const { return switched_; }
  bool keeps_alive() const { return keeps_alive_; }
  /// Whether an orderly close now would make an incomplete response look complete.
  bool looks_whole_when_closed() const { return until_close_ && !finished_; }

 private:
  /// For an HTTP/1.0 client the response decides (RFC 9112 section 9.3).
  bool goes_on(const ResponseHead& head) const;
  Task<void> send_in_steps(const StoredResponse& response);
  Task<void> switch_protocols(const ResponseHead& head);

  ByteStream& stream_;
  H1Writer body_;
  const RequestHead& request_;
  bool head_sent_ = false;
  bool continued_ = false;
  bool finished_ = false;
  bool keeps_alive_ = false;
  bool until_close_ = false;
  bool hurries_ = false;
  Event pause_;
  bool switched_ = false;
};

}  // namespace reprise
