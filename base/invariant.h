#pragma once

#include <cstdio>
#include <cstdlib>

namespace reprise {

/// Ends the process, in every build, if a condition that the code itself guarantees is false.
/// Never for input: use a Result there.
inline void invariant(bool holds, const char* message) {
  if (holds) [[likely]]
    return;
  std::fprintf(stderr, "reprise: broken invariant: %s\n", message);
  std::abort();
}

}  // namespace reprise
