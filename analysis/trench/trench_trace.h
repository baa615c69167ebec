#pragma once

// What a server did for one request, by its own account: a tree of code points with their times, as
// Banky sends it (TRENCH.md). Plain values.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace reprise {

/// A method, or a part of one.
struct TrenchPoint {
  std::string class_name;
  std::string method;
  std::int64_t line = -1;  ///< -1 if unknown

  bool operator==(const TrenchPoint&) const = default;
};

/// All calls of one point by one caller.
struct TrenchNode {
  static constexpr std::uint32_t kNoCaller = std::numeric_limits<std::uint32_t>::max();

  std::uint32_t point = 0;  ///< its place in TrenchTrace::points
  std::uint64_t hits = 0;
  std::int64_t inclusive_us = 0;  ///< of all hits together, with what they called
  /// The place of the caller in TrenchTrace::nodes, before this one.
  std::uint32_t caller = kNoCaller;

  bool operator==(const TrenchNode&) const = default;
};

struct TrenchTrace {
  static constexpr std::size_t kNodesMax = 1'000'000;
  static constexpr std::size_t kDepthMax = 512;
  static constexpr std::int64_t kTimeUsMax = 86'400'000'000;
  static constexpr std::size_t kNameBytesMax = 1024;  ///< of a class or a method
  /// Of the names of all points, and of all nodes: small JSON can repeat one name a million times.
  static constexpr std::size_t kAllNamesBytesMax = std::size_t{128} << 20;

  std::vector<TrenchPoint> points;
  /// In preorder: each is followed by those it calls, and each of these by what it calls.
  std::vector<TrenchNode> nodes;

  bool operator==(const TrenchTrace&) const = default;
};

}  // namespace reprise
