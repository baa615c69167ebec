#include "proxy/record/upstream_proxy.h"

#include <algorithm>
#include <array>
#include <boost/asio/ip/network_v4.hpp>
#include <boost/asio/ip/network_v6.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <charconv>

#include "base/bytes.h"
#include "base/http/headers.h"
#include "base/text/base64.h"
#include "base/text/percent.h"
#include "base/text/printable.h"
#include "base/text/white_space.h"
#include "dns/host.h"

namespace reprise {
namespace {

constexpr std::size_t kConnectHeadBytesMax = 16 << 10;
constexpr std::size_t kSocksTextBytesMax = 255;

std::string in_brackets(const std::string& host) {
  return host.contains(':') ? "[" + host + "]" : host;
}

/// Splits `host[:port]`, with brackets around an IPv6 literal; false if it is neither.
bool split_authority(std::string_view text, std::string& host, std::uint16_t& port) {
  std::string_view digits;
  if (text.starts_with('[')) {
    auto const close = text.find(']');
    if (close == std::string_view::npos) return false;
    host = text.substr(1, close - 1);
    text.remove_prefix(close + 1);
    if (!text.empty() && !text.starts_with(':')) return false;
    if (!text.empty()) digits = text.substr(1);
  } else {
    auto const colon = text.find(':');
    host = text.substr(0, colon);
    if (colon != std::string_view::npos) digits = text.substr(colon + 1);
  }
  host = lower_case(host);
  if (digits.empty()) return !host.empty();
  auto const* const last = digits.data() + digits.size();
  auto const [end, error] = std::from_chars(digits.data(), last, port);
  return error == std::errc() && end == last && port != 0 && !host.empty();
}

/// Whether an entry of NO_PROXY such as "10.0.0.0/8" is a network that holds the address.
bool is_in_network(const std::string& entry, const net::ip::address& address) {
  boost::system::error_code error;
  if (address.is_v4()) {
    auto const network = net::ip::make_network_v4(entry, error);
    if (error) return false;
    return network.canonical() ==
           net::ip::network_v4(address.to_v4(), network.prefix_length()).canonical();
  }
  auto const network = net::ip::make_network_v6(entry, error);
  if (error) return false;
  return network.canonical() ==
         net::ip::network_v6(address.to_v6(), network.prefix_length()).canonical();
}

class UpstreamCategory final : public std::error_category {
 public:
  const char* name() const noexcept override { return "upstream proxy"; }
  std::string message(int) const override {
    return "the upstream proxy needs a user and a password, or refuses those of --upstream-proxy";
  }
};

std::error_code refused() {
  return std::make_error_code(std::errc::permission_denied);
}
std::error_code not_understood() {
  return std::make_error_code(std::errc::bad_message);
}

std::string needs_user(const UpstreamProxy& proxy) {
  auto const at = "the proxy " + proxy.place();
  return proxy.user.empty() ? at + " needs a user and a password: give them in --upstream-proxy "
                                   "or in https_proxy, http://USER:PASSWORD@HOST:PORT"
                            : at + " refuses the user or the password";
}

Task<void> write_all(tcp::socket& socket, std::string_view text) {
  auto const [error, count] = co_await net::async_write(socket, net::buffer(text), kTuple);
  if (error) co_return fail(error);
  co_return Result<void>{};
}

Task<std::string> read_exactly(tcp::socket& socket, std::size_t bytes) {
  std::string text(bytes, '\0');
  auto const [error, count] = co_await net::async_read(socket, net::buffer(text), kTuple);
  if (error) co_return fail(error);
  co_return text;
}

/// The head of an answer. Nothing follows it: in a tunnel the client speaks first.
Task<std::string> read_connect_head(tcp::socket& socket) {
  std::string text;
  std::array<char, 2048> room{};
  while (!text.contains("\r\n\r\n")) {
    if (text.size() > kConnectHeadBytesMax) co_return fail(not_understood());
    auto const [error, count] = co_await socket.async_read_some(net::buffer(room), kTuple);
    if (error) co_return fail(error);
    text.append(room.data(), count);
  }
  co_return text;
}

Task<void> connect_over_http(tcp::socket& socket, const UpstreamProxy& proxy,
                             const std::string& host, std::uint16_t port, std::string& failure) {
  auto const authority = in_brackets(host) + ":" + std::to_string(port);
  auto request = "CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\n";
  if (auto const value = proxy.authorization(); !value.empty()) {
    request += "Proxy-Authorization: " + value + "\r\n";
  }
  request += "\r\n";
  if (auto const sent = co_await write_all(socket, request); !sent) co_return sent;
  auto const head = co_await read_connect_head(socket);
  if (!head) co_return fail(head.error());
  if (!head->starts_with("HTTP/1.") || head->size() < 12) co_return fail(not_understood());
  auto const status = std::string_view(*head).substr(9, 3);
  bool const whole = head->ends_with("\r\n\r\n") && head->find("\r\n\r\n") == head->size() - 4;
  if (status.starts_with('2')) {
    if (!whole) co_return fail(not_understood());
    co_return Result<void>{};
  }
  failure = status == "407"
                ? needs_user(proxy)
                : "the proxy " + proxy.place() + " refuses a connection to " + authority + ": " +
                      printable(trim(std::string_view(*head).substr(9, head->find("\r\n") - 9)));
  co_return fail(refused());
}

std::string_view socks_reply(unsigned char code) {
  static constexpr std::array<std::string_view, 9> kReplies = {"",
                                                               "general failure",
                                                               "not allowed by its rules",
                                                               "network unreachable",
                                                               "host unreachable",
                                                               "connection refused",
                                                               "TTL expired",
                                                               "command not supported",
                                                               "address type not supported"};
  return code < kReplies.size() ? kReplies[code] : "unknown failure";
}

std::string sized(const std::string& text) {
  return static_cast<char>(text.size()) + text;
}

Task<void> greet_socks(tcp::socket& socket, const UpstreamProxy& proxy, std::string& failure) {
  bool const named = !proxy.user.empty();
  auto const greeting = named ? std::string("\x05\x02\x00\x02", 4) : std::string("\x05\x01\x00", 3);
  if (auto const sent = co_await write_all(socket, greeting); !sent) co_return sent;
  auto const chosen = co_await read_exactly(socket, 2);
  if (!chosen) co_return fail(chosen.error());
  if ((*chosen)[0] != 5) co_return fail(not_understood());
  if ((*chosen)[1] == 0) co_return Result<void>{};
  if (!named || (*chosen)[1] != 2) {
    failure = needs_user(proxy);
    co_return fail(upstream_errc::not_authorized);
  }
  auto const words = "\x01" + sized(proxy.user) + sized(proxy.password);
  if (auto const sent = co_await write_all(socket, words); !sent) co_return sent;
  auto const verdict = co_await read_exactly(socket, 2);
  if (!verdict) co_return fail(verdict.error());
  if ((*verdict)[1] == 0) co_return Result<void>{};
  failure = needs_user(proxy);
  co_return fail(upstream_errc::not_authorized);
}

/// As type and bytes of a SOCKS request (RFC 1928 section 5).
std::string socks_address(const std::string& host) {
  auto const literal = dns::parse_address(host);
  if (!literal) return "\x03" + sized(host);
  std::string text(1, literal->is_v4() ? '\x01' : '\x04');
  auto const append = [&text](const auto& bytes) { text.append(bytes.begin(), bytes.end()); };
  if (literal->is_v4()) {
    append(literal->to_v4().to_bytes());
  } else {
    append(literal->to_v6().to_bytes());
  }
  return text;
}

Task<void> connect_over_socks(tcp::socket& socket, const UpstreamProxy& proxy,
                              const std::string& host, std::uint16_t port, std::string& failure) {
  if (host.size() > kSocksTextBytesMax) {
    failure = "the name is too long for a SOCKS proxy";
    co_return fail(std::make_error_code(std::errc::invalid_argument));
  }
  if (auto const greeted = co_await greet_socks(socket, proxy, failure); !greeted) {
    co_return greeted;
  }
  auto const request = std::string("\x05\x01\x00", 3) + socks_address(host) +
                       static_cast<char>(port >> 8) + static_cast<char>(port & 0xff);
  if (auto const sent = co_await write_all(socket, request); !sent) co_return sent;
  auto const reply = co_await read_exactly(socket, 4);
  if (!reply) co_return fail(reply.error());
  if ((*reply)[0] != 5) co_return fail(not_understood());
  if ((*reply)[1] != 0) {
    failure = "the proxy " + proxy.place() + " cannot connect to " + host + ": " +
              std::string(socks_reply(static_cast<unsigned char>((*reply)[1])));
    co_return fail(refused());
  }
  // The address from which the proxy connects: of no use, but in the way.
  std::size_t address_bytes = (*reply)[3] == 4 ? 16 : 4;
  if ((*reply)[3] == 3) {
    auto const length = co_await read_exactly(socket, 1);
    if (!length) co_return fail(length.error());
    address_bytes = static_cast<unsigned char>((*length)[0]);
  }
  auto const rest = co_await read_exactly(socket, address_bytes + 2);
  if (!rest) co_return fail(rest.error());
  co_return Result<void>{};
}

}  // namespace

const std::error_category& upstream_category() {
  static const UpstreamCategory category;
  return category;
}

std::error_code make_error_code(upstream_errc error) {
  return {static_cast<int>(error), upstream_category()};
}

std::string UpstreamProxy::place() const {
  return in_brackets(host) + ":" + std::to_string(port);
}

std::string UpstreamProxy::authorization() const {
  if (user.empty()) return {};
  return "Basic " + base64(bytes_of(user + ":" + password));
}

std::expected<UpstreamProxy, std::string> UpstreamProxy::parse(std::string_view text) {
  UpstreamProxy proxy{.port = 80};
  if (auto const at = text.find("://"); at != std::string_view::npos) {
    auto const scheme = lower_case(text.substr(0, at));
    text.remove_prefix(at + 3);
    if (scheme == "socks5" || scheme == "socks5h") {
      proxy.kind = Kind::kSocks5;
      proxy.port = 1080;
    } else if (scheme != "http") {
      return std::unexpected("the scheme of a proxy must be http, socks5 or socks5h");
    }
  }
  text = text.substr(0, text.find('/'));
  if (auto const at = text.rfind('@'); at != std::string_view::npos) {
    auto const words = text.substr(0, at);
    auto const colon = std::min(words.find(':'), words.size());
    proxy.user = percent_decoded(words.substr(0, colon));
    proxy.password = percent_decoded(words.substr(std::min(colon + 1, words.size())));
    text.remove_prefix(at + 1);
  }
  if (proxy.user.size() > kSocksTextBytesMax || proxy.password.size() > kSocksTextBytesMax) {
    return std::unexpected("user and password can have 255 bytes each");
  }
  if (!split_authority(text, proxy.host, proxy.port)) {
    return std::unexpected("a proxy must be [http://|socks5://][USER:PASSWORD@]HOST[:PORT]");
  }
  return proxy;
}

std::expected<UpstreamProxies, std::string> UpstreamProxies::make(const std::string& option,
                                                                  const Variable& variable) {
  auto const first = [&variable](std::initializer_list<const char*> names) {
    for (const char* const name : names) {
      if (auto value = variable(name); !value.empty()) return std::pair(name, value);
    }
    return std::pair("", std::string());
  };
  UpstreamProxies all;
  if (option == "none") return all;
  auto const take = [](const auto& named, std::optional<UpstreamProxy>& to) -> std::string {
    if (named.second.empty()) return {};
    auto proxy = UpstreamProxy::parse(named.second);
    if (!proxy) return std::string(named.first) + ": " + proxy.error();
    to = std::move(*proxy);
    return {};
  };
  using Given = std::pair<const char*, std::string>;
  auto const given = Given("--upstream-proxy", option);
  // HTTP_PROXY in upper case may be a request's field "Proxy" that a CGI server passed on.
  auto const for_http = option.empty() ? first({"http_proxy", "all_proxy", "ALL_PROXY"}) : given;
  auto const for_https =
      option.empty() ? first({"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"}) : given;
  for (auto const& wrong : {take(for_http, all.http_), take(for_https, all.https_)}) {
    if (!wrong.empty()) return std::unexpected(wrong);
  }
  auto const exceptions = first({"no_proxy", "NO_PROXY"}).second;
  std::string_view rest = exceptions;
  while (!rest.empty()) {
    auto const end = std::min(rest.find_first_of(", \t"), rest.size());
    if (end > 0) all.exceptions_.push_back(lower_case(rest.substr(0, end)));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return all;
}

bool UpstreamProxies::is_excepted(const std::string& host, std::uint16_t port) const {
  auto const literal = dns::parse_address(host);
  bool const loopback = literal ? literal->is_loopback() : host == "localhost";
  if (loopback || host.ends_with(".localhost")) return true;
  return std::ranges::any_of(exceptions_, [&](const std::string& entry) {
    if (entry == "*" || entry == host) return true;
    if (literal && is_in_network(entry, *literal)) return true;
    std::string name;
    std::uint16_t only_port = port;
    if (!split_authority(entry, name, only_port) || only_port != port) return false;
    if (name.starts_with("*.")) name.erase(0, 1);
    auto const domain = name.starts_with('.') ? name.substr(1) : name;
    if (literal || domain.empty()) return domain == host;
    return host == domain || host.ends_with("." + domain);
  });
}

const UpstreamProxy* UpstreamProxies::proxy_for(Scheme scheme, const std::string& host,
                                                std::uint16_t port) const {
  auto const& proxy = scheme == Scheme::kHttps ? https_ : http_;
  return proxy && !is_excepted(host, port) ? &*proxy : nullptr;
}

bool UpstreamProxies::is_proxy(std::string_view host) const {
  return (http_ && http_->host == host) || (https_ && https_->host == host);
}

Task<void> open_tunnel(tcp::socket& socket, const UpstreamProxy& proxy, const std::string& host,
                       std::uint16_t port, std::string& failure) {
  auto const opened = proxy.kind == UpstreamProxy::Kind::kHttp
                          ? co_await connect_over_http(socket, proxy, host, port, failure)
                          : co_await connect_over_socks(socket, proxy, host, port, failure);
  if (!opened && failure.empty()) {
    failure =
        "the proxy " + proxy.place() + " did not connect to " + host + ": " +
        (opened.error() == std::errc::bad_message ? "it does not speak the protocol of a proxy"
                                                  : opened.error().message());
  }
  co_return opened;
}

}  // namespace reprise
