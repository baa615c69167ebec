#pragma once

// What waits for what in a changed load, before any of it happens. Pure.

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "analysis/dependency/dependency_graph.h"
#include "analysis/prediction/load_parts.h"
#include "analysis/prediction/page_change.h"

namespace reprise {

struct LoadPlan {
  struct Outgoing {
    std::uint32_t to = 0;
    std::uint32_t group = 0;
    DependencyAfter after = DependencyAfter::kEnd;
  };

  // By node.
  std::vector<bool> dropped;          ///< or absent
  std::vector<bool> absent;           ///< initiated by what is dropped, so that it does not occur
  std::vector<bool> scripts_of_head;  ///< that the body waits for
  /// What it waits for: numbers of edges, or of alternatives, of which one is enough.
  std::vector<std::vector<std::uint32_t>> groups;
  std::vector<std::vector<Outgoing>> outgoing;
  /// The run of a script that is dropped, or loaded so that nothing behind it waits for it.
  std::vector<bool> frees_parser;
  /// A piece of the main thread's work that follows a moment of the node.
  struct Following {
    std::uint32_t piece = 0;
    DependencyAfter after = DependencyAfter::kEnd;
  };
  std::vector<std::vector<Following>> work;

  std::uint32_t document = 0;  ///< the first one that found something
  /// What the change makes early: at the first byte of a document, and before it.
  struct Early {
    std::vector<std::uint32_t> preloaded, preconnected, hinted;
  };
  std::map<std::uint32_t, Early> early;  ///< by the document, which can be that of a frame
};

LoadPlan load_plan(const DependencyGraph& graph, const LoadParts& parts,
                   std::span<const NodeChange> changes);

}  // namespace reprise
