#include "proxy/record/network_dialer.h"

#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <charconv>

#include "dns/error.h"
#include "dns/host.h"
#include "proxy/stream/tls_stream.h"
#include "proxy/tls/client_context.h"

namespace reprise {
namespace {

/// Closes a socket when a phase takes too long, or its ticket is cancelled. The timer's callback
/// may run after the end of the phase, so it shares its state.
class PhaseDeadline {
 public:
  PhaseDeadline(tcp::socket& socket, std::chrono::seconds timeout, dns::Ticket& ticket)
      : timer_(socket.get_executor(), timeout),
        use_(ticket, timer_),
        state_(std::make_shared<State>(&socket)) {
    timer_.async_wait([state = state_](boost::system::error_code cancelled) {
      if (state->socket == nullptr) return;
      state->expired = !cancelled;
      boost::system::error_code ignored;  // the socket is being dropped anyway
      state->socket->close(ignored);
    });
  }
  ~PhaseDeadline() { state_->socket = nullptr; }
  PhaseDeadline(const PhaseDeadline&) = delete;
  PhaseDeadline& operator=(const PhaseDeadline&) = delete;

  bool expired() const { return state_->expired; }

 private:
  struct State {
    explicit State(tcp::socket* watched) : socket(watched) {}
    tcp::socket* socket;
    bool expired = false;
  };
  net::steady_timer timer_;
  dns::Ticket::Use use_;
  std::shared_ptr<State> state_;
};

/// Takes one `host:` (brackets allowed) from the start of `rest`.
std::optional<std::string> take_host(std::string_view& rest) {
  std::string host;
  if (rest.starts_with('[')) {
    auto const close = rest.find("]:");
    if (close == std::string_view::npos) return std::nullopt;
    host = rest.substr(1, close - 1);
    rest.remove_prefix(close + 2);
    return host;
  }
  auto const colon = rest.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  host = rest.substr(0, colon);
  rest.remove_prefix(colon + 1);
  return host;
}

std::optional<std::uint16_t> to_port(std::string_view digits) {
  if (digits.empty()) return 0;
  std::uint16_t port = 0;
  auto const [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return port;
}

std::string why_not_found(const std::string& host, std::error_code error) {
  if (error == dns::errc::stopped) return "the recording was stopped";
  auto const why = "cannot look up " + host + ": ";
  if (error == dns::errc::no_servers) {
    return why +
           "the only known DNS server is this recording's own; name another with --dns-server";
  }
  bool const other_server_may_help = error == dns::errc::timed_out || error == dns::errc::refused ||
                                     error == dns::errc::unreachable;
  return why + error.message() +
         (other_server_may_help ? "; --dns-server names another server" : "");
}

/// The limit of addresses in a message.
constexpr std::size_t kAttemptsTold = 4;

std::string why_not_connected(const std::string& host, const dns::Dialled& dialled) {
  if (dialled.error == dns::errc::stopped) return "the recording was stopped";
  auto const self = std::ranges::find(
      dialled.attempts, std::make_error_code(std::errc::too_many_symbolic_link_levels),
      &dns::DialAttempt::error);
  if (self != dialled.attempts.end()) {
    return host + " leads to this proxy itself (" + to_text(self->at) +
           "): map it to the real origin with --connect-to";
  }
  auto text = "cannot connect to " + host;
  std::size_t told = 0;
  for (const auto& attempt : dialled.attempts) {
    if (told == kAttemptsTold) {
      return text + "; and " + std::to_string(dialled.attempts.size() - told) + " more";
    }
    bool const given_up = attempt.error == std::errc::operation_canceled;
    text += (told++ == 0 ? " at " : "; at ") + to_text(attempt.at) + ": " +
            (given_up ? "no answer in time" : attempt.error.message());
  }
  return text;
}

/// The kernel's, of a new connection: between SYN and SYN-ACK, whenever this process gets to run.
std::optional<std::chrono::nanoseconds> handshake_round_trip(tcp::socket& socket) {
  tcp_info info{};
  socklen_t size = sizeof info;
  int const failed = ::getsockopt(socket.native_handle(), IPPROTO_TCP, TCP_INFO, &info, &size);
  if (failed != 0 || info.tcpi_rtt == 0) return std::nullopt;
  return std::chrono::microseconds(info.tcpi_rtt);
}

}  // namespace

std::optional<ConnectTo> parse_connect_to(std::string_view text) {
  ConnectTo rule;
  auto const host = take_host(text);
  if (!host) return std::nullopt;
  auto const colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  auto const port = to_port(text.substr(0, colon));
  text.remove_prefix(colon + 1);
  auto const to_host = take_host(text);
  auto const last_port = to_port(text);
  if (!port || !to_host || !last_port) return std::nullopt;
  return ConnectTo{.host = *host, .port = *port, .to_host = *to_host, .to_port = *last_port};
}

awaitable<OriginDialer::Dialled> NetworkDialer::dial(const Target& target, const ClientHello* hello,
                                                     dns::Ticket& ticket, const TimeOf& time_of,
                                                     Reach reach) {
  Dialled result;
  ConnectionFacts& facts = result.facts;
  facts.scheme = target.scheme;
  facts.host = target.host;
  facts.port = target.port;
  auto const* const proxy = proxy_for(target);
  auto socket = proxy != nullptr
                    ? co_await connect_through(*proxy, target, ticket, result, time_of, reach)
                    : co_await connect(target, ticket, result, time_of, reach);
  if (!socket) co_return result;
  if (target.scheme == Scheme::kHttp) {
    result.stream = std::make_unique<TcpStream>(std::move(*socket));
  } else {
    facts.tls_start = time_of(Clock::now());
    auto tls = co_await start_tls(std::move(*socket), target, hello, ticket, facts);
    if (!tls) co_return result;
    result.stream = std::move(*tls);
  }
  facts.ready = time_of(Clock::now());
  co_return result;
}

void NetworkDialer::set_on_answer(std::function<void(const dns::LookUpAnswer&)> on_answer) {
  options_.names.on_answer = [this, take = std::move(on_answer)](const dns::LookUpAnswer& answer) {
    if (!options_.upstream.is_proxy(answer.host)) take(answer);
  };
}

const UpstreamProxy* NetworkDialer::proxy_for(const Target& target) const {
  if (has_rule(target)) return nullptr;
  return options_.upstream.proxy_for(target.scheme, target.host, target.port);
}

bool NetworkDialer::forwards(const Target& target) const {
  auto const* const proxy = proxy_for(target);
  return proxy != nullptr && proxy->kind == UpstreamProxy::Kind::kHttp &&
         target.scheme == Scheme::kHttp;
}

const ConnectTo* NetworkDialer::rule_for(const Target& target) const {
  auto const rule = std::ranges::find_if(options_.connect_to, [&target](const ConnectTo& each) {
    return (each.host.empty() || equals_ignoring_case(each.host, target.host)) &&
           (each.port == 0 || each.port == target.port);
  });
  return rule == options_.connect_to.end() ? nullptr : &*rule;
}

OriginDialer::Target NetworkDialer::where_is(const Target& target) const {
  auto where = target;
  if (auto const* const rule = rule_for(target)) {
    if (!rule->to_host.empty()) where.host = rule->to_host;
    if (rule->to_port != 0) where.port = rule->to_port;
  }
  return where;
}

Task<NetworkDialer::Addresses> NetworkDialer::look_up(const std::string& host,
                                                      dns::Ticket& ticket) {
  // Needs no servers, and none may exist.
  if (auto const literal = dns::parse_address(host)) co_return Addresses{*literal};
  if (resolver_ == nullptr) {
    // Every thread of the proxy runs an io_context, and nothing else runs coroutines.
    auto const executor = co_await net::this_coro::executor;
    auto& context = static_cast<net::io_context&>(executor.context());
    auto made = dns::Resolver::create(context, options_.names);
    if (!made) co_return fail(made.error());
    resolver_ = std::move(*made);
  }
  auto found = co_await resolver_->look_up(host, ticket);
  if (!found) co_return fail(found.error());
  co_return std::move(found->addresses);
}

bool NetworkDialer::leads_to_self(const tcp::socket& socket) const {
  // An IPv4 address may have the form of IPv6, and a listener on any address has all of ours.
  auto const plain = [](const net::ip::address& address) {
    if (!address.is_v6() || !address.to_v6().is_v4_mapped()) return address;
    return net::ip::address(net::ip::make_address_v4(net::ip::v4_mapped, address.to_v6()));
  };
  boost::system::error_code error;
  auto const remote = socket.remote_endpoint(error);
  auto const local = socket.local_endpoint(error);
  if (error) return false;
  return std::ranges::any_of(options_.own, [&](const tcp::endpoint& own) {
    if (own.port() != remote.port()) return false;
    if (own.address().is_unspecified()) return plain(remote.address()) == plain(local.address());
    return plain(own.address()) == plain(remote.address());
  });
}

Task<tcp::socket> NetworkDialer::connect(const Target& target, dns::Ticket& ticket, Dialled& result,
                                         const TimeOf& time_of, Reach reach) {
  ConnectionFacts& facts = result.facts;
  auto const where = where_is(target);
  facts.dns_start = time_of(Clock::now());
  auto addresses = co_await look_up(where.host, ticket);
  if (!addresses) {
    facts.failure = why_not_found(where.host, addresses.error());
    co_return fail(addresses.error());
  }
  if (!has_rule(target) && !options_.rebinding &&
      !public_names_.keep_reachable(where.host, reach, *addresses)) {
    result.private_refused = true;
    facts.failure = "a page from the Internet must not reach " + where.host +
                    ", which has a private address (--allow-private permits it)";
    co_return fail(std::make_error_code(std::errc::permission_denied));
  }
  tcp::endpoint at;
  auto socket =
      co_await connect_to_any(target.host, *addresses, where.port, ticket, facts, time_of, at);
  if (!socket) co_return fail(socket.error());
  facts.address = to_text(at);
  facts.round_trip = handshake_round_trip(*socket);
  result.is_private = is_private(at.address());
  co_return std::move(*socket);
}

Task<tcp::socket> NetworkDialer::connect_to_any(const std::string& host, const Addresses& addresses,
                                                std::uint16_t port, dns::Ticket& ticket,
                                                ConnectionFacts& facts, const TimeOf& time_of,
                                                tcp::endpoint& at) {
  std::vector<tcp::endpoint> endpoints;
  for (const auto& address : dns::dial_order(addresses, dns::has_route)) {
    endpoints.emplace_back(address, port);
  }
  dns::DialOptions const options{
      .timeout = options_.connect_timeout,
      .refuse = [this](const tcp::socket& socket) { return leads_to_self(socket); }};
  facts.connect_start = time_of(Clock::now());
  auto dialled = co_await dns::dial(endpoints, options, ticket);
  if (!dialled.socket) {
    facts.failure = why_not_connected(host, dialled);
    co_return fail(dialled.error);
  }
  auto const made =
      std::ranges::find_if(dialled.attempts, [](const auto& attempt) { return !attempt.error; });
  facts.connect_start = time_of(made->started);
  at = made->at;
  co_return std::move(*dialled.socket);
}

Task<tcp::socket> NetworkDialer::connect_through(const UpstreamProxy& proxy, const Target& target,
                                                 dns::Ticket& ticket, Dialled& result,
                                                 const TimeOf& time_of, Reach reach) {
  ConnectionFacts& facts = result.facts;
  // The proxy looks up the names, so only literals are known to be private.
  auto const literal = dns::parse_address(target.host);
  result.is_private = literal && is_private(*literal);
  if (result.is_private && reach == Reach::kPublicOnly) {
    result.private_refused = true;
    facts.failure = "a page from the Internet must not reach the private address " + target.host +
                    " (--allow-private permits it)";
    co_return fail(std::make_error_code(std::errc::permission_denied));
  }
  auto addresses = co_await look_up(proxy.host, ticket);
  if (!addresses) {
    facts.failure = "the proxy cannot be found: " + why_not_found(proxy.host, addresses.error());
    co_return fail(addresses.error());
  }
  tcp::endpoint at;
  auto socket =
      co_await connect_to_any(proxy.host, *addresses, proxy.port, ticket, facts, time_of, at);
  if (!socket) {
    facts.failure = "the proxy " + proxy.place() + " cannot be used: " + facts.failure;
    co_return fail(socket.error());
  }
  if (forwards(target) && !target.tunnel) {
    result.forward = ForwardProxy{.authorization = proxy.authorization()};
    co_return std::move(*socket);
  }
  PhaseDeadline const deadline(*socket, options_.tls_timeout, ticket);
  auto const opened = co_await open_tunnel(*socket, proxy, target.host, target.port, facts.failure);
  if (!opened) {
    if (deadline.expired()) facts.failure = "the proxy " + proxy.place() + " gives no answer";
    co_return fail(opened.error());
  }
  co_return std::move(*socket);
}

Task<std::unique_ptr<ByteStream>> NetworkDialer::start_tls(tcp::socket socket, const Target& target,
                                                           const ClientHello* hello,
                                                           dns::Ticket& ticket,
                                                           ConnectionFacts& facts) const {
  // Offer only supported protocols.
  std::vector<std::string> alpn;
  if (hello != nullptr) {
    std::ranges::copy_if(hello->alpn, std::back_inserter(alpn), [](const std::string& name) {
      return name == "h2" || name == "http/1.1";
    });
  }
  auto ssl = make_client_ssl(*options_.tls, target.host, alpn, hello);
  if (!ssl) {
    facts.failure = "TLS to " + target.host + " cannot be set up: " + ssl.error().message();
    co_return fail(ssl.error());
  }
  auto const* const certificate = certificate_for(options_.certificates, target.host);
  if (certificate != nullptr && !certificate->present(**ssl)) {
    facts.failure = "TLS to " + target.host +
                    " cannot be set up: OpenSSL refuses the certificate of --client-cert";
    co_return fail(std::make_error_code(std::errc::invalid_argument));
  }
  auto stream = std::make_unique<TlsStream>(std::move(socket), std::move(*ssl));
  PhaseDeadline const deadline(stream->socket(), options_.tls_timeout, ticket);
  auto const shaken = co_await stream->handshake();
  if (!shaken) {
    auto const verify = describe_verify_error(*stream->ssl());
    auto const why = deadline.expired() ? std::string("no answer in time")
                     : !verify.empty()  ? "its certificate is not valid (" + verify +
                                             "): use --origin-ca FILE to trust its authority, or "
                                             "--insecure-origin to accept any certificate"
                                       : shaken.error().message();
    facts.failure = "TLS to " + target.host + " failed: " + why;
    co_return fail(shaken.error());
  }
  auto const seen = read_peer_facts(*stream->ssl());
  facts.alpn = seen.alpn;
  facts.tls_version = seen.tls_version;
  facts.cipher = seen.cipher;
  facts.certificate_names = seen.certificate_names;
  facts.chain_bytes = seen.chain_bytes;
  facts.chain_digest = seen.chain_digest;
  co_return std::unique_ptr<ByteStream>(std::move(stream));
}

}  // namespace reprise
