#pragma once

// The calls of a beacon's view as flat calls with their kinds: what tree_of(), classify() and the
// even share make of it, without the tree. Pure.

#include <array>
#include <cstdint>
#include <memory>
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
  /// What the rules can tell requests apart by; what they do not ask for is empty.
  struct Key {
    std::uint32_t page = 0;
    std::int64_t status = 0;
    std::array<std::string_view, 5> texts;  ///< URL or its site, initiator, suffix, protocol, type

    bool operator==(const Key& other) const;
    std::uint64_t hash() const;
    std::size_t size_bytes() const;
  };
  /// A key with its own texts.
  struct Known {
    Key key;
    Kinds kinds;
    std::string texts;
  };

  Key key_of(const BeaconRequest& request) const;
  const Kinds& kinds_of(const BeaconRequest& request, const BeaconView& view);
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
  std::vector<std::unique_ptr<Known>> known_;  ///< open addressing, a power of two of places
  Kinds too_long_;                             ///< those of a request whose key is not kept
  std::unordered_map<std::string, std::uint8_t> known_works_;
  std::string work_key_;
  std::string page_;
  std::uint32_t page_number_ = 0;
  std::unordered_map<std::string, std::uint32_t> pages_;  ///< by their hosts
  std::vector<FlatCall> calls_;
};

}  // namespace reprise
