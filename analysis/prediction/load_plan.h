#pragma once

// What waits for what in a changed load, before any of it happens. Pure.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
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
  std::optional<std::uint32_t> load_event;
  /// Of the groups of the load event, those that it waits for only once the node here has begun:
  /// something asks for it that the load event does not wait for, such as a timer.
  std::map<std::uint32_t, std::uint32_t> loose;
  struct Moment {
    std::uint32_t node = 0;
    DependencyAfter after = DependencyAfter::kEnd;
  };
  /// Of the run of a script that is dropped, or loaded so that nothing behind it waits for it: when
  /// the parser goes on instead.
  std::vector<std::optional<Moment>> goes_on;
  /// Whether a script that the change defers runs in it. What followed the document's end still
  /// follows that run.
  std::vector<bool> deferred;
  /// Whether an absent node passes without a turn on the thread. The failure of a script that held
  /// up the parser takes a turn.
  bool passes_at_once(std::uint32_t node) const { return absent[node] && !goes_on[node]; }
  /// Whether work is done in spite of the change.
  bool is_done(const ThreadWork& piece) const {
    return leads_to_work(piece.from) || piece.is_of_earlier_task;
  }
  /// When it can begin under the change.
  Moment begin_of(const ThreadWork& piece) const;
  struct AwaitedWork {
    Moment from;
    double length_us = 0, processor_us = 0;
  };
  /// The work that a node still waits for under the change; nothing if that work is not done.
  std::optional<AwaitedWork> awaited_by(std::uint32_t node,
                                        const std::optional<ThreadWait>& wait) const;
  std::vector<std::vector<std::uint32_t>> work;  ///< pieces of the main thread's that follow it

  std::uint32_t document = 0;  ///< the first one that found something
  /// What the change makes early: when a document is taken up, and before it.
  struct Early {
    std::vector<std::uint32_t> preloaded, preconnected, hinted;
  };
  std::map<std::uint32_t, Early> early;  ///< by the document, which can be that of a frame
  /// Fonts of the page's own document that the change preloads or hints at.
  std::set<std::uint32_t> early_fonts;
  const Early& early_of(std::uint32_t node) const {
    static const Early kNone;
    auto const found = early.find(node);
    return found == early.end() ? kNone : found->second;
  }

 private:
  /// Whether the work that followed it is done.
  bool leads_to_work(std::uint32_t node) const { return goes_on[node] || !dropped[node]; }
};

/// That the largest contentful paint was, if it was one and is known.
std::optional<std::uint32_t> largest_image(const DependencyGraph& graph);

LoadPlan load_plan(const DependencyGraph& graph, const LoadParts& parts,
                   std::span<const NodeChange> changes);

}  // namespace reprise
