#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>

#include "proxy/http/h2_fields.h"
#include "proxy/http/h2_session.h"
#include "proxy/stream/byte_stream.h"

namespace reprise {

/// One request to an origin over HTTP/2, and its response.
class H2ClientStream final : public H2Content {
 public:
  explicit H2ClientStream(H2Session& session) : H2Content(session, 0) {}

  /// The next head, interim or final; valid until the next call. The content follows by read().
  /// Errors: the stream's or the connection's.
  Task<ResponseHead> read_head();
  /// Whether a byte of the response has arrived.
  bool response_started() const { return response_started_; }
  /// When the end of the request was sent, which the origin's limit of streams can delay. Nothing
  /// until then.
  std::optional<std::chrono::steady_clock::time_point> sent_at() const { return sent_at_; }

 private:
  friend class H2Client;
  std::deque<Headers> heads_;  // arrived, not yet read; :status among them
  Headers current_;            // the last result of read_head()
  std::vector<HeaderView> current_fields_;
  bool response_started_ = false;
  bool final_arrived_ = false;
  InterimLimit interim_limit_;
  std::optional<std::chrono::steady_clock::time_point> sent_at_;
  Event head_arrived_;
};

/// HTTP/2 towards an origin: many exchanges at a time. Sends the client's own SETTINGS and
/// pseudo-header order to the origin, because sites look at them.
class H2Client final : public H2Session {
 public:
  using Settings = std::vector<std::pair<std::uint16_t, std::uint32_t>>;

  H2Client(std::unique_ptr<ByteStream> stream, const Settings& client_settings);
  ~H2Client() override;

  /// Transfers bytes until the connection has ended; then every stream is closed.
  Task<void> serve();

  /// Whether a request can be sent: the connection is open and the origin has sent no GOAWAY.
  bool usable() const { return usable_; }

  /// Whether the origin accepts WebSockets (RFC 8441 section 3).
  bool takes_web_sockets() const { return takes_web_sockets_; }
  /// Called when the origin announces it.
  void set_on_web_sockets(std::function<void()> call) { on_web_sockets_ = std::move(call); }

  /// Sends a head; has_content: write() and finish() of the stream follow. `headers` are sent
  /// without connection fields. The stream lives as long as the pointer.
  Result<std::unique_ptr<H2ClientStream>> request(const RequestHead& head,
                                                  const std::vector<std::string>& pseudo_order,
                                                  bool has_content);
  /// Cancels the stream if it is not finished. Must be called before it is destroyed.
  void drop(H2ClientStream& stream);

 private:
  void on_begin_head(const nghttp2_frame& frame) override;
  void on_head(const nghttp2_frame& frame, H2Content& content, H2Head& arrived) override;
  void on_closed(H2Content& content) override;
  void on_end_sent(H2Content& content) override;
  void on_settings(std::span<const nghttp2_settings_entry> entries) override;
  void on_goaway() override { usable_ = false; }
  void on_half_over() override { stream_.close(); }

  std::unique_ptr<ByteStream> owned_stream_;
  std::set<H2ClientStream*> open_;
  bool usable_ = true;
  bool takes_web_sockets_ = false;
  std::function<void()> on_web_sockets_;
};

}  // namespace reprise
