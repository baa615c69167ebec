#include "proxy/http/h1_target.h"

#include <algorithm>

namespace reprise {

Result<H1Target> H1Target::of(const RequestLine& line, HeaderList headers,
                              const Defaults& defaults) {
  H1Target target;
  target.scheme = defaults.scheme;
  target.path_ = line.target;
  std::string_view authority;
  auto const rest_of = [&](std::string_view prefix) {
    return line.target.size() > prefix.size() &&
           equals_ignoring_case(line.target.substr(0, prefix.size()), prefix);
  };
  bool const absolute = rest_of("http://") || rest_of("https://");
  auto const hosts = std::ranges::count_if(
      headers, [](const HeaderView& field) { return equals_ignoring_case(field.name, "Host"); });
  if (hosts > 1 || (hosts == 0 && line.version != HttpVersion::kHttp10)) {
    return fail(h1_errc::bad_authority);
  }
  if (absolute) {
    target.scheme = rest_of("https://") ? Scheme::kHttps : Scheme::kHttp;
    auto const start = line.target.find("//") + 2;
    auto const end = std::min(line.target.find_first_of("/?", start), line.target.size());
    authority = line.target.substr(start, end - start);
    target.path_ = line.target.substr(end);
  } else if (line.target.front() == '/' || (line.target == "*" && line.method == "OPTIONS")) {
    // An old client without Host: the only name is the one it connected by.
    authority = find_header(headers, "Host").value_or(defaults.server_name);
    if (authority.empty()) authority = defaults.tunnel_host;
  } else {
    bool const is_proxy_use = line.method == "CONNECT" && defaults.tunnel_host.empty();
    return fail(is_proxy_use ? h1_errc::not_a_proxy : h1_errc::bad_target);
  }
  auto const tunnelled = !defaults.tunnel_host.empty() && !absolute;
  auto const port = tunnelled ? defaults.tunnel_port : default_port(target.scheme);
  auto parsed = parse_authority(authority, port);
  if (!parsed) return fail(parsed.error());
  target.authority = *parsed;
  // "http://host?query" has no path, but origin-form needs one (RFC 9112 section 3.2.1).
  if (target.path_.empty() || target.path_.front() == '?') {
    target.path_text_ = "/" + std::string(target.path_);
  }
  return target;
}

}  // namespace reprise
