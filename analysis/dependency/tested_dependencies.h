#pragma once

// What perturbations told of the pages of an archive, and its form as JSON (DEPENDENCY.md). Pure.

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/dependency/dependency_graph.h"

namespace reprise {

/// What loads told in which these responses were held back.
struct DependencyTest {
  /// More alternatives of one start are not looked for.
  static constexpr std::size_t kHeldMax = 4;

  std::vector<std::uint32_t> held;  ///< requests of a graph, ascending; at least one
  /// Of each node of the graph, whether it waited for the earliest of them; nothing if that is not
  /// known.
  std::vector<std::optional<bool>> waits;

  bool says_nothing() const;
  bool operator==(const DependencyTest&) const = default;
};

/// A graph, and the tests that made it what it is.
struct TestedPage {
  static constexpr std::size_t kTestsMax = 8'000;

  DependencyGraph graph;
  std::vector<DependencyTest> tests;
};

struct TestedDependencies {
  static constexpr std::size_t kPagesMax = 100;

  std::string archive_sha256;     ///< in hexadecimal digits
  std::vector<TestedPage> pages;  ///< the one that was tested last first; no two of one URL

  /// Puts it first, instead of the one of the same URL.
  void put(TestedPage page);
};

/// Reads an untrusted text, of at most kDependencyBytesMax. Unknown fields are ignored. Errors: a
/// sentence with the place ("pages[0].tests[3].held[1] is not a request").
std::expected<TestedDependencies, std::string> read_tested_dependencies(std::string_view text);

/// With the newline at its end. It is at most kDependencyBytesMax long: the last pages are dropped
/// from `tested` if they do not fit, and beyond kPagesMax.
std::string tested_dependencies_json(TestedDependencies& tested);

}  // namespace reprise
