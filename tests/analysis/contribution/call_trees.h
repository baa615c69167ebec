#pragma once

// Call trees for tests: written down, and random.

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <string>

#include "analysis/calls/call.h"

namespace reprise {

struct Interval {
  const char* name;
  std::int64_t start_us;
  std::int64_t end_us;
  std::uint32_t parent = kNoParent;
  CallKind kind = CallKind::kRequest;
};

inline CallTree tree_of(std::int64_t window_us, std::initializer_list<Interval> calls) {
  CallTree tree{.page = "https://page.test/", .window_us = window_us};
  for (Interval const& call : calls) {
    tree.calls.push_back({.kind = call.kind,
                          .name = call.name,
                          .start_us = call.start_us,
                          .end_us = call.end_us,
                          .parent = call.parent});
  }
  return tree;
}

/// Up to `most` calls of all kinds, nested by chance, some of them empty, some beyond the window,
/// some longer than the call around them. With few different times, so that many are equal.
inline CallTree random_tree(std::mt19937_64& random, std::size_t most = 30) {
  auto const below = [&random](std::size_t limit) {
    return static_cast<std::int64_t>(random() % limit);
  };
  CallTree tree{.page = "https://page.test/", .window_us = below(2000)};
  auto const calls = static_cast<std::size_t>(below(most + 1));
  for (std::size_t i = 0; i < calls; ++i) {
    Call call{.kind = static_cast<CallKind>(below(5)), .name = "call " + std::to_string(i)};
    call.start_us = below(random() % 2 == 0 ? 2500 : 40);
    call.end_us = call.start_us + below(random() % 2 == 0 ? 1000 : 20);
    if (i > 0 && random() % 2 == 0) call.parent = static_cast<std::uint32_t>(below(i));
    tree.calls.push_back(std::move(call));
  }
  return tree;
}

}  // namespace reprise
