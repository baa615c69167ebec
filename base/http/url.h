#pragma once

// URLs as documents and header fields write them, after the WHATWG URL standard (section 4.4,
// special schemes), for http and https alone. Boost.URL reads RFC 3986, which has no spaces,
// backslashes or bytes outside ASCII, and writes paths and percent signs in its own way. Pure.

#include <optional>
#include <string>
#include <string_view>

namespace reprise {

/// The absolute URL of `text`, without its fragment: spaces and control characters at the ends and
/// line ends dropped, backslashes taken as slashes, dots in the path resolved, what a browser
/// encodes encoded, no default port. Nothing if the scheme is another, the host or the port is
/// invalid, or it has a user or a host that is not ASCII. `text` is UTF-8; bytes outside ASCII are
/// percent-encoded as they are.
std::optional<std::string> absolute_url(std::string_view text);

/// The same for `reference`, which can be relative to `base`, a result of these functions.
std::optional<std::string> resolved_url(std::string_view reference, std::string_view base);

/// "https://host:port" of a result of these functions.
std::string_view origin_of_url(std::string_view url);

}  // namespace reprise
