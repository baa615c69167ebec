#include "proxy/connection.h"

#include <openssl/ssl.h>
#include <spdlog/spdlog.h>

#include <array>

#include "proxy/http/h2_server.h"
#include "proxy/stream/tls_stream.h"
#include "proxy/tls/server_context.h"

namespace reprise {
namespace {

constexpr std::chrono::seconds kFirstByteTimeout{120};  // browsers preconnect
constexpr std::chrono::seconds kHandshakeTimeout{60};   // includes dialling the origin
constexpr std::byte kTlsHandshakeRecord{22};

/// The alert (RFC 8446 section 6) that answers a ClientHello with this error.
std::uint8_t alert_for(std::error_code error) {
  return error == client_hello_errc::bad_server_name ? SSL_AD_UNRECOGNIZED_NAME
                                                     : SSL_AD_DECODE_ERROR;
}

std::chrono::steady_clock::time_point from_now(std::chrono::seconds timeout) {
  return std::chrono::steady_clock::now() + timeout;
}

}  // namespace

bool covers(const LeafNames& leaf, const std::string& host) {
  auto const dot = std::min(host.find('.'), host.size());
  return std::ranges::any_of(leaf.names, [&](const std::string& name) {
    if (equals_ignoring_case(name, host)) return true;
    return name.starts_with("*.") &&
           equals_ignoring_case(name.substr(1), std::string_view(host).substr(dot));
  });
}

void cover(LeafNames& leaf, const std::string& host) {
  leaf.names.resize(std::min(leaf.names.size(), LeafMinter::kNamesMax));
  if (covers(leaf, host)) return;
  if (leaf.names.size() < LeafMinter::kNamesMax) return leaf.names.push_back(host);
  // Not in place of one that took the last place before.
  leaf.names.pop_back();
  leaf.names.insert(leaf.names.begin(), host);
}

Connection::Connection(tcp::socket socket, std::uint64_t id, Entry entry,
                       ConnectionEnvironment environment, std::optional<AcceptedElsewhere> from)
    : entry_(entry), environment_(environment) {
  boost::system::error_code ignored;  // a closed connection has no addresses
  deadline_.set_idle(std::chrono::steady_clock::now(), kFirstByteTimeout);
  info_.id = id;
  info_.client = from ? from->client : socket.remote_endpoint(ignored);
  info_.local = from ? from->local : socket.local_endpoint(ignored);
  if (from) on_abort_ = std::move(from->on_abort);
  stream_ = std::make_unique<TcpStream>(std::move(socket));
  stream_->set_on_abort(on_abort_);
  handler_ = environment_.factory.open(info_);
}

Connection::~Connection() = default;

bool Connection::is_overdue(std::chrono::steady_clock::time_point now) {
  if (now > deadline_.at) return true;
  if (deadline_.on_sweep) deadline_.on_sweep(now);
  auto taken = deadline_.waiting ? deadline_.waiting() : std::nullopt;
  if (!taken && stream_->writing()) taken = stream_->bytes_written();
  return stand_still_.lasts_over(kStallTimeout, taken, now);
}

void Connection::end() {
  deadline_.ending = true;
  if (deadline_.on_ending) {
    deadline_.on_ending();
  } else if (deadline_.between_messages) {
    close();
  }
}

void Connection::close() {
  if (deadline_.between_messages) {
    stream_->close();
  } else {
    stream_->abort();
  }
  handler_->close();
}

void Connection::tell_of_proxy_use(std::error_code error) {
  if (error != h1_errc::not_a_proxy || environment_.told_no_proxy == nullptr) return;
  if (environment_.told_no_proxy->test_and_set()) return;
  spdlog::warn("a client uses {} as a proxy, which it is not: set the address of --proxy there",
               to_text(info_.local));
}

awaitable<void> Connection::run() {
  auto const served = co_await serve();
  if (!served) {
    spdlog::debug("connection {} from {} to '{}' ended: {}", info_.id, to_text(info_.client),
                  info_.server_name, served.error().message());
    tell_of_proxy_use(served.error());
  }
  stream_->close();
  handler_->close();
  co_await handler_->ended();
}

Task<void> Connection::serve() {
  std::vector<std::byte> early;
  if (entry_ == Entry::kProxy) {
    H1ServerOptions const options{.explicit_proxy = true};
    auto tunnel = co_await serve_h1(*stream_, info_, *handler_, deadline_, options, {});
    if (!tunnel) co_return fail(tunnel.error());
    if (!*tunnel) co_return Result<void>{};
    info_.tunnel_host = (*tunnel)->authority.host.text();
    info_.tunnel_port = (*tunnel)->authority.port;
    early = std::move((*tunnel)->early);
  }

  auto const hello = co_await read_hello(early);
  if (!hello) co_return fail(hello.error());
  H1ServerOptions options;
  if (*hello) {
    auto const started = co_await start_tls(**hello, std::move(early));
    if (!started) co_return fail(started.error());
    options.scheme = Scheme::kHttps;
    early = {};
  }
  if (info_.alpn == "h2") {
    co_return co_await serve_h2(*stream_, info_, *handler_, deadline_, {});
  }
  auto const served =
      co_await serve_h1(*stream_, info_, *handler_, deadline_, options, std::move(early));
  if (!served) co_return fail(served.error());
  co_return Result<void>{};
}

Task<std::optional<ClientHello>> Connection::read_hello(std::vector<std::byte>& early) {
  if (early.empty()) {
    deadline_.set_idle(std::chrono::steady_clock::now(), kFirstByteTimeout);
  } else {
    deadline_.set(from_now(kHandshakeTimeout), true);
  }
  while (true) {
    if (!early.empty()) {
      if (environment_.tls == nullptr || early.front() != kTlsHandshakeRecord) {
        co_return std::nullopt;
      }
      auto hello = parse_client_hello(early);
      if (!hello) {
        co_await refuse_tls(hello.error(), alert_for(hello.error()));
        co_return fail(hello.error());
      }
      if (*hello) co_return std::move(*hello);
    }
    auto const used = early.size();
    early.resize(used + 4096);
    auto const count = co_await stream_->read_some(std::span(early).subspan(used));
    early.resize(used + count.value_or(0));
    if (!count) co_return fail(count.error());
    if (*count == 0) co_return std::nullopt;  // h1 distinguishes an end from a truncated head
    if (used == 0) deadline_.set(from_now(kHandshakeTimeout), true);
  }
}

awaitable<void> Connection::refuse_tls(std::error_code error, std::uint8_t alert) {
  constexpr std::byte kAlertRecord{21};
  constexpr std::byte kFatal{2};
  environment_.failed_handshakes.add(error, info_.server_name);
  std::array const record{kAlertRecord, std::byte{3}, std::byte{3},    std::byte{0},
                          std::byte{2}, kFatal,       std::byte{alert}};
  if (co_await stream_->write(Bytes(record))) co_await stream_->shutdown();
}

Task<void> Connection::start_tls(const ClientHello& hello, std::vector<std::byte> early) {
  deadline_.set(from_now(kHandshakeTimeout), true);
  info_.server_name = hello.server_name;
  auto const plan = co_await handler_->plan_tls(info_, hello);
  info_.takes_web_sockets = plan.web_sockets;

  auto& minter = environment_.minters->for_client(hello);
  auto const leaf = minter.leaf(leaf_key(plan.names), plan.names);
  if (!leaf) {
    co_await refuse_tls(leaf.error(), SSL_AD_INTERNAL_ERROR);
    co_return fail(leaf.error());
  }
  SslPtr ssl(SSL_new(environment_.tls));
  if (ssl == nullptr) co_return fail(std::make_error_code(std::errc::not_enough_memory));
  SSL_set_accept_state(ssl.get());
  choose_alpn(ssl.get(), plan.alpn);
  if (auto const set = use_leaf(ssl.get(), **leaf, minter); !set) {
    co_return fail(set.error());
  }
  if (!plan.tls_version.empty()) {
    auto const set = use_tls_version(ssl.get(), plan.tls_version);
    if (!set)
      spdlog::debug("{}: recorded {} cannot be served", hello.server_name, plan.tls_version);
  }
  auto tls = std::make_unique<TlsStream>(std::move(stream_->socket()), std::move(ssl), early);
  auto& handshaking = *tls;
  handshaking.set_on_abort(on_abort_);
  stream_ = std::move(tls);
  auto const shaken = co_await handshaking.handshake();
  if (!shaken) {
    environment_.failed_handshakes.add(shaken.error(), info_.server_name);
    co_return fail(shaken.error());
  }

  const unsigned char* chosen = nullptr;
  unsigned chosen_length = 0;
  SSL_get0_alpn_selected(handshaking.ssl(), &chosen, &chosen_length);
  info_.alpn.assign(reinterpret_cast<const char*>(chosen), chosen_length);
  info_.tls_version = SSL_get_version(handshaking.ssl());
  co_return Result<void>{};
}

}  // namespace reprise
