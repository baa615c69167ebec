#include "base/http/registrable_domain.h"

#include <libpsl.h>

#include <algorithm>
#include <string>

namespace reprise {
namespace {

/// As the URL Standard tells them (section 3.5): an IPv6 address has colons, the last label of an
/// IPv4 address is a number.
bool is_address(std::string_view host) {
  if (host.contains(':')) return true;
  auto const last = host.substr(host.rfind('.') + 1);
  return !last.empty() && std::ranges::all_of(last, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

std::string_view registrable_domain(std::string_view host) {
  if (is_address(host)) return host;
  std::string const name(host);
  const char* const domain = psl_registrable_domain(psl_builtin(), name.c_str());
  return domain == nullptr ? host : host.substr(static_cast<std::size_t>(domain - name.c_str()));
}

bool is_same_site(std::string_view host, std::string_view other) {
  return registrable_domain(host) == registrable_domain(other);
}

}  // namespace reprise
