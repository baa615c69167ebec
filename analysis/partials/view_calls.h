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
    bool has_rest = false;  ///< although it may be empty
    std::int64_t status = 0;
    std::string_view site;  ///< or the whole URL
    std::string_view initiator;
    std::string_view rest;  ///< see rest_of()

    bool operator==(const Key& other) const;
    std::uint64_t hash() const;
    std::size_t size_bytes() const { return site.size() + initiator.size() + rest.size(); }
  };
  /// A key with its own texts.
  struct Known {
    Key key;
    bool needs_rest = false;  ///< so that there are longer keys, and no kinds here
    Kinds kinds;
    std::string texts;
  };

  const Kinds& kinds_of(const BeaconRequest& request, const BeaconView& view);
  const Known& known(const Key& key, const BeaconRequest& request, const BeaconView& view);
  const Known& learn(const Key& key, std::size_t place, const BeaconRequest& request,
                     const BeaconView& view);
  bool needs_rest(std::string_view initiator) const;
  std::string_view rest_of(const BeaconRequest& request);
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
  Known too_long_;                             ///< of a request whose key is not kept
  std::unordered_map<std::string, std::uint8_t> known_works_;
  std::string work_key_;
  std::string rest_;
  std::string page_;
  std::uint32_t page_number_ = 0;
  std::unordered_map<std::string, std::uint32_t> pages_;  ///< by their hosts
  std::vector<FlatCall> calls_;
};

}  // namespace reprise
