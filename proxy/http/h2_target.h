#pragma once

// The target of an HTTP/2 request, by its pseudo-header fields (RFC 9113 section 8.3.1). Pure.

#include <string>
#include <string_view>
#include <vector>

#include "base/http/h1_parser.h"

namespace reprise {

/// The pseudo-header fields of a request; views into its head.
struct H2Target {
  std::string_view method;
  Scheme scheme = Scheme::kHttps;
  Authority authority;
  std::string_view path;
  std::string_view protocol;  ///< of an extended CONNECT (RFC 8441 section 4), whose method is GET
};

/// Reads them; the other fields go to `headers`. Errors: h1_errc::not_http, or the authority's.
Result<H2Target> read_h2_target(HeaderList fields, std::vector<HeaderView>& headers);

/// The order of the pseudo-header fields, which sites look at.
std::vector<std::string> pseudo_order_of(HeaderList fields);

}  // namespace reprise
