#include "tools/predict/navigation.h"

#include <optional>
#include <string>

#include "base/http/headers.h"
#include "base/http/url.h"

namespace reprise {
namespace {

/// Where a recorded response leads; nothing if it does not redirect.
std::optional<std::string> redirect_target(const Exchange& exchange, std::string_view url) {
  auto const& response = exchange.response;
  auto const location = find_header(response.headers.list(), "location");
  if (response.status < 300 || response.status >= 400 || !location) return std::nullopt;
  return resolved_url(*location, url);
}

}  // namespace

std::set<std::uint64_t> navigation_to(std::string_view url, const whatif::PageRequests& requests,
                                      const ArchiveReader& archive) {
  std::set<std::uint64_t> made;
  auto next = absolute_url(url);
  for (whatif::PageRequest const& request : requests.all()) {
    if (!next) break;
    if (request.method != "GET" || absolute_url(request.url) != next) continue;
    made.insert(request.sequence);
    auto const exchange = archive.exchange(request.ordinal);
    next = exchange ? redirect_target(*exchange, *next) : std::nullopt;
  }
  return made;
}

}  // namespace reprise
