#include "proxy/h3_listener.h"

#ifdef REPRISE_H3

#include <spdlog/spdlog.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <list>

#include "proxy/http/h3/h3_server.h"
#include "proxy/quic/quic_endpoint.h"
#include "proxy/quic/quic_error.h"

namespace reprise {
namespace {

constexpr const char* kLoopbackDevice = "lo";

tcp::endpoint tcp_of(const QuicSocket::Endpoint& at) {
  return {at.address(), at.port()};
}

QuicOptions options_of(const H3Listener::Options& options) {
  QuicOptions quic{.streams_max = H3ServerOptions{}.concurrent_streams_max};
  if (options.congestion == QuicCongestion::kReno) quic.congestion = Congestion::kReno;
  if (options.congestion == QuicCongestion::kBbr) quic.congestion = Congestion::kBbr;
  return quic;
}

/// A client's connection: its facts, its handler, and the server that calls that.
struct Client {
  ConnectionInfo info;
  std::unique_ptr<ConnectionHandler> handler;
  std::unique_ptr<H3Server> server;
};

class Listener final : public H3Listener, private QuicApplications {
 public:
  static Result<std::unique_ptr<H3Listener>> create(const Environment& environment,
                                                    QuicSocket socket, const Options& options) {
    // All browsers with HTTP/3 take ECDSA: the first authority's.
    auto credentials = GnutlsCredentials::create(environment.minters.for_client({}));
    if (!credentials) return fail(credentials.error());
    return std::unique_ptr<H3Listener>(
        new Listener(environment, std::move(socket), std::move(*credentials), options));
  }
  ~Listener() override { endpoint_.stop(); }

  tcp::endpoint bound() const override { return tcp_of(endpoint_.bound()); }

  void start(HandlerFactory& factory) override {
    factory_ = &factory;
    endpoint_.start();
  }

  void begin_ending() override {
    endpoint_.refuse_new();
    for (Client& client : clients_) client.server->begin_ending();
  }

  void sweep(std::chrono::steady_clock::time_point now, bool over) override {
    endpoint_.sweep(now);
    for (Client& client : clients_) {
      if (over) {
        client.server->close();
        client.handler->close();
      } else {
        client.server->sweep(now);
      }
    }
  }

  bool empty() const override { return clients_.empty(); }
  void stop() override { endpoint_.stop(); }

 private:
  Listener(const Environment& environment, QuicSocket socket,
           std::unique_ptr<GnutlsCredentials> credentials, const Options& options)
      : environment_(environment),
        credentials_(std::move(credentials)),
        server_options_{.alt_svc_hosts = options.alt_svc_hosts},
        endpoint_(environment.context, std::move(socket), options_of(options), *credentials_,
                  *this) {}

  QuicApplication* open(const QuicConnection::Endpoint& local,
                        const QuicConnection::Endpoint& client) override {
    auto const place = clients_.emplace(clients_.end());
    auto const id = environment_.connection_ids.fetch_add(1, std::memory_order_relaxed) + 1;
    place->info = {.id = id,
                   .client = tcp_of(client),
                   .local = tcp_of(local),
                   .alpn = "h3",
                   .tls_version = "TLSv1.3"};
    place->handler = factory_->open(place->info);
    place->server = std::make_unique<H3Server>(environment_.context.get_executor(), place->info,
                                               *place->handler, server_options_);
    net::co_spawn(environment_.context, run(*place), [this, place](std::exception_ptr broken) {
      clients_.erase(place);
      if (clients_.empty() && on_empty) on_empty();
      if (broken) std::rethrow_exception(broken);
    });
    return place->server.get();
  }

  void attach(QuicApplication& application, QuicConnection& connection) override {
    auto& client = *std::ranges::find_if(clients_.rbegin(), clients_.rend(), [&](auto const& each) {
      return each.server.get() == &application;
    });
    client.server->attach(connection, [this, &client](const std::string& server_name) {
      return chain_for(client, server_name);
    });
  }

  std::shared_ptr<const GnutlsChain> chain_for(Client& client, const std::string& server_name) {
    client.info.server_name = server_name;
    auto const names = client.handler->plan_quic(client.info);
    if (!names) return nullptr;
    auto const chain = credentials_->chain(*names);
    if (chain) return *chain;
    spdlog::debug("connection {}: no certificate for '{}': {}", client.info.id, server_name,
                  chain.error().message());
    return nullptr;
  }

  awaitable<void> run(Client& client) {
    auto const served = co_await client.server->run();
    if (!served) {
      spdlog::debug("connection {} from {} to '{}' ended: {}", client.info.id,
                    to_text(client.info.client), client.info.server_name, served.error().message());
      if (auto const alert = client_alert_of(served.error())) {
        environment_.failed_handshakes.add_alert(*alert, client.info.server_name);
      }
    }
    client.handler->close();
    co_await client.handler->ended();
  }

  Environment environment_;
  HandlerFactory* factory_ = nullptr;
  std::unique_ptr<GnutlsCredentials> credentials_;
  H3ServerOptions const server_options_;
  std::list<Client> clients_;
  QuicEndpoint endpoint_;  // ends before what it borrows
};

}  // namespace

bool H3Listener::available() {
  return true;
}

Result<std::unique_ptr<H3Listener>> H3Listener::bind(const Environment& environment,
                                                     const tcp::endpoint& at, bool shared,
                                                     bool whole_loopback, const Options& options) {
  auto socket = QuicSocket::bind({at.address(), at.port()}, shared,
                                 whole_loopback ? kLoopbackDevice : nullptr);
  if (!socket) return fail(socket.error());
  return Listener::create(environment, std::move(*socket), options);
}

Result<std::unique_ptr<H3Listener>> H3Listener::adopt(const Environment& environment,
                                                      Descriptor socket, const Options& options) {
  auto adopted = QuicSocket::adopt(std::move(socket));
  if (!adopted) return fail(adopted.error());
  return Listener::create(environment, std::move(*adopted), options);
}

}  // namespace reprise

#else

namespace reprise {

bool H3Listener::available() {
  return false;
}

Result<std::unique_ptr<H3Listener>> H3Listener::bind(const Environment&, const tcp::endpoint&, bool,
                                                     bool, const Options&) {
  return fail(std::make_error_code(std::errc::not_supported));
}

Result<std::unique_ptr<H3Listener>> H3Listener::adopt(const Environment&, Descriptor,
                                                      const Options&) {
  return fail(std::make_error_code(std::errc::not_supported));
}

}  // namespace reprise

#endif
