#pragma once

// What code needs in order to run: a digest of it in an element, a script or a policy (Subresource
// Integrity; CSP Level 3, section 2.3.1), or a policy that permits its source. Pure; linear.

#include <string>
#include <string_view>
#include <vector>

#include "base/http/headers.h"

namespace reprise {

/// The digests by which `code` can be named: "sha256-...", "sha384-...", "sha512-...".
std::vector<std::string> digests_of(std::string_view code);

/// All digests that `text` names, as digests_of() writes them.
std::vector<std::string> digests_named_in(std::string_view text);

/// The words of the Content-Security-Policy fields of one response that those of the other do not
/// have: "https://cdn.test", "'unsafe-inline'"; "'nonce'" for any nonce.
std::vector<std::string> sources_of_one(HeaderList fields, HeaderList other);

/// The host of a source of a policy ("https://cdn.test:443/js/", "cdn.test"); empty without one, or
/// with a wildcard.
std::string_view host_of_source(std::string_view source);

}  // namespace reprise
