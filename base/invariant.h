#pragma once

#include <cstdio>
#include <cstdlib>

namespace reprise {

/// Ends the process, in every build, when something holds no more that the code itself guarantees.
/// Never for input: that is a Result.
inline void invariant(bool holds, const char* message) {
  if (holds) [[likely]]
    return;
  std::fprintf(stderr, "reprise: broken invariant: %s\n", message);
  std::abort();
}

}  // namespace reprise
