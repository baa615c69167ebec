#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>

#include "proxy/tls/leaf_minter.h"

namespace reprise {

/// Leaves for names that are known before a client asks for them, minted by one thread while others
/// serve, so that the first handshake of a name costs the same as the next. The set of names is
/// fixed; each leaf is there or not yet, and no thread waits for another.
class PreparedLeaves {
 public:
  /// Mints nothing yet. `minter` is the twin of those that will use the leaves. Names that occur
  /// twice are prepared once; those after the first LeafMinter::kLeavesMax are not prepared.
  PreparedLeaves(std::unique_ptr<LeafMinter> minter, std::span<const LeafNames> names);

  /// Mints all leaves; returns early if `stop` is requested. One thread, once. Returns the number
  /// of leaves. Names that cannot be certified are skipped: their handshake reports the error.
  std::size_t mint(const std::stop_token& stop);

  /// The leaf for leaf_key() of its names; null if it is not there yet. Any thread.
  const Leaf* find(std::string_view key) const;

 private:
  struct Slot {
    LeafNames names;
    Leaf leaf;
    std::atomic<bool> ready = false;
  };
  std::unique_ptr<LeafMinter> minter_;
  std::map<std::string, Slot, std::less<>> slots_;  // by key
};

}  // namespace reprise
