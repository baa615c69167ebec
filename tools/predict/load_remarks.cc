#include "tools/predict/load_remarks.h"

#include <utility>

#include "analysis/lost_loads.h"
#include "base/text/counted.h"
#include "base/text/printable.h"
#include "tools/predict/learnt_page.h"

namespace reprise {
namespace {

std::string missed_text(const LoadResult& base) {
  auto const missed = base.missed_requests();
  if (missed.empty()) return {};
  return "the archive does not have " + counted(missed.size(), "request") +
         " of the page, such as " + printable(*missed.begin()) +
         ": the prediction is of a page that is not whole";
}

/// "the link's queue dropped packets in 2 of 8 loads"; empty if it dropped none.
std::string dropped_text(const LoadResult& result) {
  std::size_t loads = 0;
  std::size_t dropped = 0;
  for (LoadResult::Load const& load : result.loads) {
    if (!load.counts()) continue;
    ++loads;
    auto const* const replay = result.replay_of(load);
    if (replay != nullptr && replay->link && replay->link->queue_drops > 0) ++dropped;
  }
  if (dropped == 0) return {};
  return "the link's queue dropped packets in " + std::to_string(dropped) + " of " +
         counted(loads, "load");
}

}  // namespace

std::vector<std::string> load_remarks(const ExperimentSide& base, const ExperimentSide* measured) {
  std::vector<std::string> remarks;
  auto const add = [&remarks](std::string text) {
    if (!text.empty()) remarks.push_back(std::move(text));
  };
  add(missed_text(base.result()));
  if (auto const dropped = dropped_text(base.result()); !dropped.empty()) {
    add(dropped +
        ": which ones the changed page would lose is not predicted; a longer queue has room for "
        "them: --link LINK,queue=1000p");
  }
  if (measured == nullptr) return remarks;
  if (auto const dropped = dropped_text(measured->result()); !dropped.empty()) {
    add(dropped + " of the changed page: what that cost is measured, but not predicted");
  }
  if (auto const losses = losses_of(base, *measured); !losses.empty()) {
    add("the changed page does less: " + printable(losses.text()));
  }
  LostLoads lost;
  lost.add(measured->result());
  if (lost.lost() > 0) add("of the changed page, " + printable(lost_text(lost)));
  return remarks;
}

}  // namespace reprise
