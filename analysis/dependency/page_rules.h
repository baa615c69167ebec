#pragma once

// What the browser's names and the rules of HTML say about the nodes of a graph. Pure.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "analysis/dependency/dependency_graph.h"
#include "analysis/dependency/observed_gaps.h"
#include "analysis/dependency/observed_page.h"

namespace reprise {

/// False only if a trace says that neither the parser nor a paint waits for the request. Modules
/// are such, despite their priority (HTML 4.12.1.1). Reads Chromium's word in "render_blocking".
bool blocks_rendering(const Call& request);

/// What the browser said that the largest contentful paint was.
struct LargestPaint {
  bool is_known = false;
  std::optional<std::uint32_t> image;  ///< nothing: text, or what needs no request
};

/// Borrows all.
class PageRules {
 public:
  PageRules(const std::vector<DependencyNode>& nodes, std::span<const ObservedPage> pages,
            const ObservedGaps& gaps);

  /// The request that made `request` in most loads; nothing if no load names one.
  std::optional<std::uint32_t> initiator_of(std::uint32_t request) const {
    return initiators_[request];
  }

  /// Whether it redirects to it in every load with both, and in one at least.
  bool redirects_to(std::uint32_t from, std::uint32_t to) const;

  /// The page's own document before a request: of several, the last one. If scripts have changed
  /// the page's URL, the first document. Never one that redirects; nothing if there is no other.
  std::optional<std::uint32_t> page_before(std::uint32_t request) const;

  /// By its priority, since browsers give a low one to async, deferred and inserted scripts and to
  /// style sheets for other media, and by blocks_rendering(). An imported style sheet holds up the
  /// parser if the one that imports it does.
  bool holds_up_parser(std::uint32_t request) const { return holds_up_parser_[request]; }

  /// The document whose parser ran this task: a script in it, or one that held the parser up; or at
  /// whose end it ran, as a listener.
  std::optional<std::uint32_t> parser_of(std::uint32_t task) const { return parsers_[task]; }
  /// The load event, if a request that nothing is known to cause comes after it in every load: the
  /// browser asks for the page's icon then.
  std::optional<std::uint32_t> load_event_before(std::uint32_t request) const;
  /// Whether nothing of the body is laid out before it: style sheets that hold up the parser, and
  /// the scripts that do before the document's first image, with the tasks that evaluate them.
  bool holds_up_layout(std::uint32_t node) const;

  /// Whether nothing waits for a script but what it does itself: an async, deferred or inserted
  /// one, or a task of it, by its low priority or by what a trace says.
  bool is_in_background(std::uint32_t node) const;

  /// Whether it is the document of a frame, or belongs to one, with the tasks of its scripts: by
  /// what asked for it, and for that.
  bool is_in_frame(std::uint32_t node) const;

  /// Whether the load event can wait for it: not for callbacks, nor for what scripts fetch, unless
  /// they stop for it, nor for what only may be of use later (HTML 13.2.7; Chromium's names of
  /// types).
  bool can_hold_up_load_event(std::uint32_t node) const;

  /// By the most of the loads that tell; of as many, the image.
  LargestPaint largest_paint() const;

  /// Whether a task is the first of a script, which evaluates it.
  bool is_run_of(std::uint32_t task, std::uint32_t script) const;

  /// Whether `run`, the first task of a script, waits for `script`: an import of it, or, if it runs
  /// after the end of its document, an earlier script of the document or an import of that.
  bool runs_after(std::uint32_t run, std::uint32_t script) const;

 private:
  /// Of the loads with the request.
  template <class Predicate>
  bool in_all_loads(std::uint32_t request, Predicate is) const {
    for (std::size_t load = 0; load < pages_.size(); ++load) {
      auto const& times = gaps_.loads()[load][request];
      if (times && !is(pages_[load].calls.calls[times->call])) return false;
    }
    return true;
  }
  bool has_priority_in_all_loads(std::uint32_t request, std::string_view word) const;
  bool find_holds_up_parser(std::uint32_t request) const;
  bool is_import(std::uint32_t request, std::uint32_t from) const;
  std::optional<std::uint32_t> find_parser(std::uint32_t task) const;
  std::optional<std::uint32_t> find_initiator(std::uint32_t request) const;
  std::optional<std::uint32_t> initiator_in(std::size_t load, std::uint32_t request) const;
  std::optional<std::uint32_t> requested_before(std::size_t load, std::string_view url,
                                                std::uint32_t to) const;
  std::optional<std::uint32_t> image_in(std::size_t load, std::string_view url) const;
  std::uint32_t first_before_redirects(std::uint32_t request) const;
  std::optional<std::uint32_t> document_above(std::uint32_t request) const;
  bool is_page(std::uint32_t request) const;
  bool always_redirects(std::uint32_t request) const;
  bool listens_to_end(std::uint32_t task) const;
  const DependencyNode& node(std::uint32_t i) const { return nodes_[i]; }

  const std::vector<DependencyNode>& nodes_;
  std::span<const ObservedPage> pages_;
  const ObservedGaps& gaps_;
  std::vector<std::optional<std::uint32_t>> initiators_;  // by node
  std::vector<bool> holds_up_parser_;                     // by node
  std::vector<std::optional<std::uint32_t>> parsers_;     // by node
};

}  // namespace reprise
