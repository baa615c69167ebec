#include "tools/load/disturbed_loads.h"

#include "analysis/comparison.h"
#include "base/text/counted.h"
#include "base/text/printable.h"

namespace reprise {
namespace {

/// How `reprise compare` counts without options.
CountedLoads counted_by_default(double usual_steal) {
  auto counted = counted_loads(CompareOptions());
  counted.usual_steal = usual_steal;
  return counted;
}

void add_to(UsualSteal& usual, const LoadResult& result, const LoadResult::Load& load) {
  usual.add(disturbances_of(load.page, result.replay_of(load)));
}

}  // namespace

void DisturbedLoads::judge_last(LoadResult& result) {
  auto& load = result.loads.back();
  if (!load.warm_up) {
    load.disturbed = reason_to_skip(result, load, counted_by_default(usual_.share()));
  }
  add_to(usual_, result, load);
}

void judge_all(LoadResult& result) {
  UsualSteal usual;
  std::size_t judged = 0;
  for (const LoadResult::Load& load : result.loads) {
    if (load.warm_up) continue;
    ++judged;
    add_to(usual, result, load);
  }
  if (judged < 2) return;
  auto const counted = counted_by_default(usual.share());
  for (LoadResult::Load& load : result.loads) {
    if (!load.warm_up) load.disturbed = reason_to_skip(result, load, counted);
  }
}

std::string disturbed_loads_text(const LoadResult& result) {
  std::size_t made = 0;
  std::size_t disturbed = 0;
  const std::string* first = nullptr;
  for (const LoadResult::Load& load : result.loads) {
    if (load.warm_up) continue;
    ++made;
    if (load.disturbed.empty() || load.page.outcome != LoadOutcome::kLoaded) continue;
    ++disturbed;
    if (first == nullptr) first = &load.disturbed;
  }
  if (first == nullptr) return {};
  return std::to_string(disturbed) + " of " + counted(made, "load") +
         (disturbed == 1 ? " was disturbed and does not count"
                         : " were disturbed and do not count") +
         " in medians and CV (" + (disturbed == 1 ? "" : "the first one: ") + printable(*first) +
         ")\n";
}

}  // namespace reprise
