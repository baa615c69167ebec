#pragma once

// The calls of a beacon's view as flat calls with their kinds: what tree_of(), classify() and the
// even share make of it, without the tree. Pure.

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/beacons/beacon_view.h"
#include "analysis/contribution/kinds.h"
#include "analysis/partials/call_key.h"
#include "analysis/partials/flat_share.h"

namespace reprise {

/// Remembers the kinds of calls by what the rules can ask about them, in bounded memory. Borrows
/// the rules and entities. Not thread-safe.
class ViewCalls {
 public:
  ViewCalls(const KindRules& rules, const Entities& entities);

  /// The calls that are not around others; their shares by kind are those of the tree. Valid until
  /// the next call.
  std::span<const FlatCall> flatten(const BeaconView& view);

 private:
  /// Of a request as a whole, and of each of its phases.
  struct Kinds {
    std::uint8_t whole = 0;
    std::array<std::uint8_t, kBeaconPhaseNames.size()> phases = {};
  };
  struct Known {
    CallKey key;
    Kinds kinds;
  };

  /// Where a key is, or is to be.
  struct Place {
    Known& known;
    bool is_here;
  };

  const Kinds& kinds_of(const BeaconRequest& request, const BeaconView& view);
  const Kinds& kinds_of_long(const BeaconRequest& request, const BeaconView& view);
  Place place_of(const CallKey& key);
  void grow();
  const Kinds& learn(const CallKey& key, const BeaconRequest& request, const BeaconView& view);
  Kinds classify(const BeaconRequest& request, const BeaconView& view) const;
  std::uint8_t kind_of(const BeaconWork& work, const BeaconView& view);
  void flatten_by_tree(const BeaconView& view);
  void forget();

  const KindRules& rules_;
  const Entities& entities_;
  bool by_tree_ = false;    ///< the rules ask for what differs in each call
  bool whole_url_ = false;  ///< the rules ask for more of a URL than its host
  bool by_protocol_ = false;
  bool by_type_ = false;
  bool has_keys_ = true;  ///< a CallKey has all that the rules ask for
  /// Open addressing, a power of two of places; the empty ones have an empty key.
  std::vector<Known> known_;
  std::size_t known_count_ = 0;
  std::unordered_map<std::string, Kinds> known_long_;  ///< of requests without a CallKey
  std::unordered_map<std::string, std::uint8_t> known_works_;
  std::string long_key_;
  Kinds too_long_;  ///< of a request whose key is not kept
  std::string page_;
  std::uint32_t page_number_ = 0;
  std::unordered_map<std::string, std::uint32_t> pages_;  ///< by their hosts
  std::vector<FlatCall> calls_;
};

}  // namespace reprise
