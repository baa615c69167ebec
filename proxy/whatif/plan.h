#pragma once

// Which interventions change which responses. Pure.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "proxy/whatif/effect.h"
#include "proxy/whatif/intervention.h"
#include "proxy/whatif/page_requests.h"

namespace reprise::whatif {

/// What happens to one response; each by the number of its intervention.
struct ResponsePlan {
  std::optional<std::size_t> drop, status, body, compress, cache, resize;

  /// How a document is to mention a resource that it uses. Borrows from PageRequests.
  struct Mentioned {
    std::size_t by = 0;
    Mention::Kind kind = Mention::Kind::kPreload;
    const PageRequest* resource = nullptr;
  };
  std::vector<Mentioned> mentions;
};

/// How often all documents together can mention resources; what is beyond is a remark. A page of
/// 300 frames and 3,000 resources needs a fourth.
inline constexpr std::size_t kMentionsMax = 4'000'000;

/// The plans of a session, by the ordinals of its exchanges. Borrows from its PageRequests.
struct Plan {
  std::map<std::uint32_t, ResponsePlan> responses;
  /// Hosts of which every answered request is dropped: their names are unknown, too.
  std::set<std::string> gone_hosts;
};

/// Adds to `effects`, one for each intervention, what they select, and remarks.
Plan make_plan(const PageRequests& requests, std::span<const Intervention> interventions,
               std::vector<Effect>& effects);

}  // namespace reprise::whatif
