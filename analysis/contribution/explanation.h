#pragma once

// Where the time of many views went: their shares by kind and by call, by the tags of the views and
// by day. As JSON: EXPLANATION.md. Pure.

#include <boost/json/object.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/calls/call.h"
#include "analysis/contribution/costs.h"
#include "analysis/contribution/kinds.h"

namespace reprise {

/// A view with its place in the inputs.
struct GivenView {
  std::size_t input = 0;
  std::size_t load = 1;  ///< of the load, session, page or line in the input, from 1
  CallTree tree;         ///< normalized
  /// The whole load time, if the tree is a part of the view.
  std::optional<std::int64_t> load_us = std::nullopt;
};

struct ExplainOptions {
  /// Names of tags, or `page`. Views without the tag have the empty text.
  std::vector<std::string> by;
  /// Of each slice only the slowest part of its views, rounded up to whole views. Above 0.
  double slowest_percent = 100;
  bool trend = false;  ///< by day (UTC)
};

/// The mean share of a kind or call in a slice's views.
struct MeanShare {
  std::uint8_t kind = 0;
  double us = 0;
  double chain_us = 0;
};
/// Calls with the same name, and of the same kind.
struct CallShare {
  MeanShare share;
  std::string name;
  std::string detail;  ///< the entity, or empty
  std::uint64_t count = 0;
  double bytes = 0;  ///< of a request, on the wire, the mean
  std::int64_t longest_us = 0;
};

/// Views with something in common.
struct Slice {
  std::vector<Attribute> tags;  ///< in the order asked for; of a trend, the day
  std::size_t views = 0;
  double mean_us = 0;  ///< of the windows; the others, too
  std::int64_t median_us = 0;
  std::int64_t p90_us = 0;
  std::int64_t min_us = 0;
  std::int64_t max_us = 0;
  std::vector<MeanShare> shares;  ///< largest first
  std::vector<CallShare> calls;   ///< largest first, at most kCallsMax
  Costs costs;
};

/// One view, as far as it is shown.
struct ExplainedView {
  const GivenView* given = nullptr;
  std::vector<std::uint8_t> kinds;     ///< of each call
  std::vector<std::int64_t> own_us;    ///< its even share, without the calls inside it
  std::vector<std::int64_t> chain_us;  ///< the same, of the critical chain
  std::int64_t gap_us = 0;
  std::int64_t chain_gap_us = 0;
  std::vector<std::size_t> slices;  ///< that it counts in, as places in Explanation::slices
};

struct Explanation {
  static constexpr std::size_t kCallsMax = 500;
  static constexpr std::size_t kPointsMax = 2000;
  static constexpr std::size_t kSlicesMax = 1000;

  std::vector<Slice> slices;          ///< of all views first; then by tags, the most views first
  std::vector<Slice> trend;           ///< in the order of days
  std::vector<ExplainedView> points;  ///< views of any slice, the slowest first, evenly chosen
  std::vector<CallLoss> losses;       ///< of the views
};

/// The name under which a call is added up: a request's and its phases' URL without query, a span
/// with its service, work with its script.
std::string call_key(const CallTree& tree, std::size_t call);

/// `views` outlives the result, which points into it.
Explanation explain(const std::vector<GivenView>& views, const KindRules& rules,
                    const Entities& entities, const ExplainOptions& options);

/// What the JSON says besides.
struct ExplanationFacts {
  struct Input {
    std::string name;
    std::size_t views = 0;
    /// The number of the input in `reprise view` of the same inputs, where GivenView::load is the
    /// number of the load.
    std::optional<std::size_t> in_view;
  };
  std::vector<Input> inputs;
  std::size_t views_read = 0;  ///< also those not selected, or not in the asked part of time
  std::optional<std::string> where;
  std::vector<CallLoss> losses;  ///< of the inputs
  std::string view;              ///< address of the page of `reprise view`; empty: none
};
boost::json::object to_json(const Explanation& explanation, const KindRules& rules,
                            const ExplainOptions& options, const ExplanationFacts& facts);

}  // namespace reprise
