#pragma once

// A proxy between the recorder and the origins, such as a company's: which requests it gets, and
// how a connection is opened through it (RFC 9110 section 9.3.6; RFC 1928 and 1929).

#include <cstdint>
#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/http/message.h"
#include "proxy/stream/net.h"

namespace reprise {

enum class upstream_errc { not_authorized = 1 };  ///< the proxy refuses us
const std::error_category& upstream_category();
std::error_code make_error_code(upstream_errc error);

/// One proxy. User and password are sent to it only: they are in no message and no archive.
struct UpstreamProxy {
  enum class Kind : std::uint8_t { kHttp, kSocks5 };
  Kind kind = Kind::kHttp;
  std::string host;  ///< without brackets
  std::uint16_t port = 0;
  std::string user;  ///< empty: no authentication
  std::string password;

  /// For messages: "proxy.corp:3128".
  std::string place() const;
  /// The value of Proxy-Authorization (RFC 7617); empty without a user.
  std::string authorization() const;

  /// `[http://|socks5://][USER[:PASSWORD]@]HOST[:PORT]`, percent-encoded like a URL; also socks5h,
  /// which means the same: the proxy looks up the names. The default ports are 80 and 1080. The
  /// error is a sentence without the text, which may hold a password.
  static std::expected<UpstreamProxy, std::string> parse(std::string_view text);
};

/// Which proxy an origin is reached through. Pure.
class UpstreamProxies {
 public:
  using Variable = std::function<std::string(const char* name)>;

  UpstreamProxies() = default;
  /// `option` is a proxy for all requests, "none", or empty: then https_proxy, http_proxy and
  /// all_proxy count, in lower or (except for http_proxy, as in curl) upper case. NO_PROXY counts
  /// always. The error is a sentence.
  static std::expected<UpstreamProxies, std::string> make(const std::string& option,
                                                          const Variable& variable);

  /// Null: the origin is reached directly. Loopback always is.
  const UpstreamProxy* proxy_for(Scheme scheme, const std::string& host, std::uint16_t port) const;
  /// Whether it is the name of one of the proxies.
  bool is_proxy(std::string_view host) const;

 private:
  bool is_excepted(const std::string& host, std::uint16_t port) const;

  std::optional<UpstreamProxy> http_;
  std::optional<UpstreamProxy> https_;
  std::vector<std::string> exceptions_;  ///< NO_PROXY: names, addresses, networks; lower case
};

/// Makes `socket`, which is connected to `proxy`, a connection to the origin. On an error `failure`
/// is a sentence. Errors: not_authorized; permission_denied: the proxy refused; bad_message: it
/// does not speak the protocol; those of the socket.
Task<void> open_tunnel(tcp::socket& socket, const UpstreamProxy& proxy, const std::string& host,
                       std::uint16_t port, std::string& failure);

}  // namespace reprise

template <>
struct std::is_error_code_enum<reprise::upstream_errc> : std::true_type {};
