#pragma once

// Which of many changes to measure first. Pure.

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace reprise {

struct PromisedChange {
  double saving_ms = 0;
  std::string group;  ///< see ChangeCandidate
};

/// Their places, the one that promises most first; of equal ones, in the order given. Of a group,
/// all but the best stand behind the others.
std::vector<std::size_t> by_promise(std::span<const PromisedChange> changes);

}  // namespace reprise
