#pragma once

// The loads of one page under the same conditions, and in what two such groups differ that makes
// their numbers incomparable. Pure.

#include <expected>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/measurements.h"
#include "analysis/queue_drops.h"
#include "analysis/verdict.h"

namespace reprise {

/// What may differ between A and B; each refuses a comparison unless it is the question.
enum class Mismatch {
  kPages,
  kBrowser,
  kProtocol,
  kLink,
  kCache,
  kArchive,
  kWhatIf,
  kStatus,  ///< before what it entails: an error page requests less
  kRequests,
  kMisses,
  kCalibration,
};
inline constexpr std::size_t kMismatchCount = 11;
std::string_view to_string(Mismatch difference);
/// For names separated by commas. Errors: a sentence with the known names.
std::expected<std::set<Mismatch>, std::string> parse_differences(std::string_view names);

struct LoadGroup {
  std::string url;
  LoadConfiguration conditions;
  std::size_t warm_ups = 0;
  std::size_t failed = 0;
  std::vector<std::string> failures;  ///< why; each once
  /// Left out because of what their replays say of the link, or because they were disturbed.
  std::size_t doubtful = 0;
  /// Left out by a gate, which has loaded both sides again.
  std::size_t repeated = 0;
  std::vector<std::string> warnings;  ///< why; each once, the first kWarningsKept
  /// The loads that count; they belong to the Measurements.
  std::vector<const LoadRow*> loads;

  static constexpr std::size_t kWarningsKept = 3;
};

/// Which loads count.
struct CountedLoads {
  bool doubtful = false;  ///< also those whose link has warnings, and disturbed ones
  /// A load is disturbed when that can have cost it more than this effect...
  MinimumEffect least;
  std::size_t metric = 0;  ///< ...on this one, an index into kMetrics, in ms
  double usual_steal = 0;  ///< see disturbed()
};

/// Of all loads but the warm-ups.
double usual_steal(const Measurements& all);

/// A remark on loads, but the warm-ups, that used up a processor quota themselves
/// (Disturbance::by_page_ms). Empty: there are none.
std::string quota_text(const Measurements& a, const Measurements& b);

/// Why a load of that result does not count, a sentence: what disturbed it, or else what its link
/// missed of its settings. Empty: it counts.
std::string reason_to_skip(const LoadResult& result, const LoadResult::Load& load,
                           const CountedLoads& counted);

/// By page and conditions, in the order of first appearance.
std::vector<LoadGroup> groups_of(const Measurements& all, const CountedLoads& counted);

/// Of the loads that count, in order, where the browser tells.
std::vector<double> values_of(const LoadGroup& group, std::size_t metric);

/// Of the loads that count, those with a load event.
std::vector<LoadWithDrops> drops_of(const LoadGroup& group, const Measurements& all);

/// Whether most loads of each group have the seed of a link that the other one has, too, and there
/// are several: the same packets were lost.
bool share_link_seeds(const LoadGroup& a, const LoadGroup& b);

/// Of two groups, the same values by what may be compared: by the node of a campaign that made the
/// loads, if all have one, and by the seed of the link, if they share seeds. Empty if neither.
std::vector<Block> blocks_of(const LoadGroup& a, const LoadGroup& b, std::size_t metric);

/// What the loads of a block of blocks_of() have in common: "node", "link seed", "node and link
/// seed". Empty: there are no blocks.
std::string block_text(const LoadGroup& a, const LoadGroup& b);
/// Loads that count and are compared with none, because the other side has none of their block.
std::size_t unpaired_loads(const LoadGroup& a, const LoadGroup& b);

/// The status that the documents of most loads that count have, if it is an error (from 400 on); 0:
/// most have none, or it is unknown.
int usual_error(const LoadGroup& group);
/// Whether all documents have that error; 0: whether none has any.
bool always_has(const LoadGroup& group, int error);
/// Counts the loads whose document has another error than that as failed; 0: those that have any.
void fail_others(LoadGroup& group, int error);

/// Two groups to be compared.
struct GroupPair {
  LoadGroup a, b;
};

struct Pairing {
  std::vector<GroupPair> pairs;
  /// Sentences on what stands in the way, with what would have to be allowed.
  std::vector<std::pair<Mismatch, std::string>> obstacles;
  /// Sentences on pages that only one side has, where that is allowed.
  std::vector<std::string> remarks;
};

/// Pairs groups of the same page whose conditions differ in nothing but what is allowed.
Pairing pair_up(std::span<const LoadGroup> a, std::span<const LoadGroup> b,
                const std::set<Mismatch>& allowed);

/// What at least `least` loads of a group asked for (or missed), in order. What single loads ask
/// for varies; what most do is the page.
std::set<std::string_view> requests_of(const LoadGroup& group, std::size_t least);
std::set<std::string_view> misses_of(const LoadGroup& group, const Measurements& all,
                                     std::size_t least);
/// More than half of the loads of a group.
inline std::size_t most_loads(const LoadGroup& group) {
  return group.loads.size() / 2 + 1;
}
std::set<std::string_view> calibrations(const LoadGroup& group, const Measurements& all);

}  // namespace reprise
