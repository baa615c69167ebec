#include "tools/recorded_hosts.h"

#include <unordered_set>

#include "archive/match.h"

namespace reprise {

Result<std::vector<dns::RecordedHost>> recorded_hosts(const ArchiveReader& archive,
                                                      std::uint32_t session) {
  if (session == 0) session = Matcher(archive, 0).session();
  std::vector<dns::RecordedHost> hosts;
  std::unordered_set<std::string> seen;
  for (const ConnectionFacts& facts : archive.connections()) {
    if (facts.session != session || facts.address.empty()) continue;
    seen.insert(facts.host);
    hosts.push_back({.host = facts.host, .addresses = {facts.address}});
  }
  if (!hosts.empty()) return hosts;
  // What was imported has no connections.
  for (auto const ordinal : archive.ordinals_in_order()) {
    auto const& entry = archive.entries()[ordinal];
    if (entry.session != session || entry.outcome == Outcome::kOriginFailed) continue;
    auto const exchange = archive.exchange(ordinal);
    if (!exchange) continue;  // damaged: a miss that the replay explains
    if (seen.insert(exchange->request.host).second) {
      hosts.push_back({.host = exchange->request.host});
    }
  }
  return hosts;
}

}  // namespace reprise
