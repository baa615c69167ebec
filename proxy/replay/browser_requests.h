#pragma once

// The browser's own requests, which do not depend on the page, so that no recording can have them.
// Pure. The list for users is in archive/match/MATCHING.md.

#include <optional>

#include "archive/match/request.h"
#include "proxy/replay/made_up.h"

namespace reprise {

/// The answer to a browser's own request: 204 or a few bytes to a check of the connection, so that
/// it succeeds; 404 to all others. Nothing if a page may have made it: a service's host counts only
/// without a page in Origin, Referer and Sec-Fetch-Site.
std::optional<MadeUp> answer_browser(const AskedRequest& asked);

}  // namespace reprise
