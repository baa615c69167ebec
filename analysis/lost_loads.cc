#include "analysis/lost_loads.h"

#include "base/text/counted.h"

namespace reprise {
namespace {

void add_to(LostLoads::Why& why, const std::string& reason) {
  if (why.loads++ == 0) why.first = reason;
}

std::string text_of(const LostLoads::Why& why, const std::string& what) {
  if (why.loads == 0) return {};
  return std::to_string(why.loads) + " " + what + " (" + (why.loads == 1 ? "" : "the first one: ") +
         why.first + ")";
}

}  // namespace

void LostLoads::add(const LoadResult& result) {
  for (const LoadResult::Load& load : result.loads) {
    if (load.warm_up) continue;
    ++made;
    if (!load.skipped.empty()) {
      add_to(disturbed, load.skipped);
    } else if (load.page.outcome != LoadOutcome::kLoaded) {
      add_to(failed, why_not_loaded(load.page));
    }
  }
}

std::string lost_text(const LostLoads& loads) {
  if (loads.lost() == 0) return {};
  auto const disturbed =
      text_of(loads.disturbed, loads.disturbed.loads == 1 ? "was disturbed" : "were disturbed");
  auto const failed = text_of(loads.failed, "failed");
  return std::to_string(loads.lost()) + " of " + counted(loads.made, "load") +
         (loads.lost() == 1 ? " does not count: " : " do not count: ") + disturbed +
         (disturbed.empty() || failed.empty() ? "" : ", ") + failed;
}

}  // namespace reprise
