#include "proxy/connection_balance.h"

#include <algorithm>

namespace reprise {

std::size_t ConnectionBalance::place(std::size_t accepted_by) {
  std::lock_guard const locked(lock_);
  auto const fewest = std::ranges::min_element(counts_);
  auto const thread = counts_[accepted_by] == *fewest
                          ? accepted_by
                          : static_cast<std::size_t>(fewest - counts_.begin());
  ++counts_[thread];
  return thread;
}

void ConnectionBalance::ended(std::size_t thread) {
  std::lock_guard const locked(lock_);
  --counts_[thread];
}

std::vector<std::size_t> ConnectionBalance::counts() const {
  std::lock_guard const locked(lock_);
  return counts_;
}

}  // namespace reprise
