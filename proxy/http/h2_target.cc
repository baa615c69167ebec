#include "proxy/http/h2_target.h"

namespace reprise {

Result<H2Target> read_h2_target(HeaderList fields, std::vector<HeaderView>& headers) {
  H2Target target;
  headers.clear();
  std::string_view authority;
  for (const HeaderView& field : fields) {
    if (!field.name.starts_with(':')) {
      headers.push_back(field);
      if (field.name != "host") continue;
      if (authority.empty()) authority = field.value;
      // Section 8.3.1: a request is for one host, and it is unknown which one is meant.
      if (!equals_ignoring_case(field.value, authority)) return fail(h1_errc::not_http);
      continue;
    }
    if (field.name == ":method") target.method = field.value;
    if (field.name == ":path") target.path = field.value;
    if (field.name == ":authority") authority = field.value;
    if (field.name == ":protocol") target.protocol = field.value;
    if (field.name == ":scheme") {
      target.scheme = field.value == "http" ? Scheme::kHttp : Scheme::kHttps;
    }
  }
  if (!target.protocol.empty()) target.method = "GET";  // as it would be over h1
  // A plain CONNECT has no path, and is not supported here.
  if (target.path.empty() || target.method.empty()) return fail(h1_errc::not_http);
  auto parsed = parse_authority(authority, default_port(target.scheme));
  if (!parsed) return fail(parsed.error());
  target.authority = *parsed;
  return target;
}

std::vector<std::string> pseudo_order_of(HeaderList fields) {
  std::vector<std::string> order;
  for (const HeaderView& field : fields) {
    if (field.name.starts_with(':')) order.emplace_back(field.name);
  }
  return order;
}

}  // namespace reprise
