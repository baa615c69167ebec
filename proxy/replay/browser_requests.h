#pragma once

// Requests that a browser makes for itself, whatever page it shows: of them a recording knows
// nothing, and that is no fault of it. Pure. The list for people is in archive/match/MATCHING.md.

#include <optional>

#include "archive/match/request.h"
#include "proxy/replay/made_up.h"

namespace reprise {

/// The answer to a request of the browser's own: 204 or a few bytes to a check of the connection,
/// so that it is content; 404 to all else. Nothing where a page may have made it: a service's host
/// counts only without a page in Origin, Referer and Sec-Fetch-Site.
std::optional<MadeUp> answer_browser(const AskedRequest& asked);

}  // namespace reprise
