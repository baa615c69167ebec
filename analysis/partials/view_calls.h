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
  struct Hash {
    std::size_t operator()(const std::string& key) const;
  };

  void write_key(const BeaconRequest& request);
  const Kinds& kinds_of(const BeaconRequest& request, const BeaconView& view);
  std::uint8_t kind_of(const BeaconWork& work, const BeaconView& view);
  void flatten_by_tree(const BeaconView& view);

  const KindRules& rules_;
  const Entities& entities_;
  bool by_tree_ = false;    ///< the rules ask for what differs in each call
  bool whole_url_ = false;  ///< the rules ask for more of a URL than its host
  std::unordered_map<std::string, Kinds, Hash> known_;
  std::string key_;
  std::string page_;  ///< of known_'s keys
  std::uint32_t page_number_ = 0;
  std::unordered_map<std::string, std::uint32_t> pages_;  ///< by their hosts
  std::vector<FlatCall> calls_;
};

}  // namespace reprise
