#pragma once

#include "proxy/http/event.h"
#include "proxy/http/h2_target.h"
#include "proxy/http/h3/h3_session.h"

namespace reprise {

/// Serves one client over HTTP/3 by a Handler: concurrent streams, flow control both ways,
/// trailers, interim heads, RFC 9218 priorities. No server push, CONNECT or WebSockets.
class H3Server final : public H3Session {
 public:
  /// The references must outlive it; handlers run on `executor`.
  H3Server(net::any_io_executor executor, ConnectionInfo& connection, Handler& handler,
           const H3ServerOptions& options)
      : H3Session(options), executor_(std::move(executor)), info_(connection), handler_(handler) {}

  /// Returns once the connection is over and every handler has returned. Errors: why it ended.
  Task<void> run();

 private:
  void serve(H3ServerStream& stream) override;
  void on_over(std::error_code why) override;
  bool answer_at_once(H3ServerStream& stream);
  awaitable<void> serve_one(H3ServerStream& stream);
  ExchangeContext context_of(const H3ServerStream& stream) const;
  bool tells_alt_svc(std::string_view host) const;
  void prepare(H3ServerStream& stream, const H2Target& target, bool expects_continue);

  net::any_io_executor executor_;
  ConnectionInfo& info_;
  Handler& handler_;
  std::vector<HeaderView> fields_;   // of answer_at_once()
  std::vector<HeaderView> headers_;  // of answer_at_once()
  std::uint16_t alt_svc_port_ = 0;
  std::string alt_svc_;      // for that port
  std::size_t serving_ = 0;  // handlers that have not returned
  std::error_code why_;
  bool over_ = false;
  Event over_event_;
  Event all_served_;
};

}  // namespace reprise
