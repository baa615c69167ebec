#pragma once

#include <string_view>

namespace reprise {

/// The part of a host's name that one owner registers: "shop.co.uk" of "img.shop.co.uk", by the
/// Public Suffix List (https://publicsuffix.org, with its private section) that libpsl was built
/// with. An address, a public suffix and a name without a dot are whole. `host` is in lower case,
/// without port and brackets; internationalized names are in Punycode. Views `host`. Thread-safe.
std::string_view registrable_domain(std::string_view host);

/// Whether both hosts have the same registrable domain.
bool is_same_site(std::string_view host, std::string_view other);

}  // namespace reprise
