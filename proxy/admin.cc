#include "proxy/admin.h"

#include <boost/asio/ip/address.hpp>
#include <string_view>

namespace reprise {
namespace {

/// A page's owner can make a name lead here (DNS rebinding), and the browser then takes the answer
/// as the page's own. An address or localhost is safe.
bool is_beyond_rebinding(std::string_view host) {
  boost::system::error_code error;
  net::ip::make_address(host, error);
  return !error || host == "localhost";
}

class AdminConnection final : public ConnectionHandler {
 public:
  explicit AdminConnection(const AdminActions& actions) : actions_(actions) {}

  awaitable<TlsPlan> plan_tls(const ConnectionInfo&, const ClientHello&) override {
    co_return TlsPlan{};  // the admin listener has no TLS
  }

  Task<void> serve(const ExchangeContext&, const RequestHead& head, BodyReader&,
                   ResponseWriter& writer) override {
    // Pages must not reach this through forms or images: browsers send these fields with cross-site
    // posts.
    if (find_header(head.headers, "Origin") || find_header(head.headers, "Sec-Fetch-Site")) {
      co_return co_await send_json(writer, 403, R"({"error":"not for browsers"})");
    }
    if (!is_beyond_rebinding(head.host)) {
      co_return co_await send_json(writer, 403, R"({"error":"ask by address, not by name"})");
    }
    bool const get = head.method == "GET";
    bool const post = head.method == "POST";
    if (head.target == "/status" && get) {
      auto const status = actions_.status();
      co_return co_await send_json(writer, 200, status);
    }
    if (head.target == "/misses" && get) {
      auto const misses = actions_.misses();
      co_return co_await send_json(writer, 200, misses);
    }
    if (head.target == "/reset" && post && actions_.reset) {
      actions_.reset();
      co_return co_await send_json(writer, 200, R"({"reset":true})");
    }
    if (head.target == "/stop" && post) {
      auto const sent = co_await send_json(writer, 200, R"({"stopping":true})");
      actions_.stop();
      co_return sent;
    }
    std::string_view const offers =
        actions_.reset ? R"({"error":"GET /status, GET /misses, POST /reset, POST /stop"})"
                       : R"({"error":"GET /status, GET /misses, POST /stop"})";
    co_return co_await send_json(writer, 404, offers);
  }

 private:
  const AdminActions& actions_;
};

}  // namespace

std::unique_ptr<ConnectionHandler> Admin::open(const ConnectionInfo&) {
  return std::make_unique<AdminConnection>(actions_);
}

}  // namespace reprise
