#pragma once

// Which recorded requests fetch a page's own document. Pure.

#include <cstdint>
#include <set>
#include <string_view>

#include "archive/reader.h"
#include "proxy/whatif/page_requests.h"

namespace reprise {

/// The sequences of the requests that a navigation to `url` makes: redirects, and the document that
/// they lead to. Empty if `url` is not recorded. `requests` are those of a session of `archive`.
std::set<std::uint64_t> navigation_to(std::string_view url, const whatif::PageRequests& requests,
                                      const ArchiveReader& archive);

}  // namespace reprise
