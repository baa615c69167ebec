#include "tools/advise/advice.h"

#include <algorithm>
#include <tuple>

namespace reprise {

const ComparedMetric* MeasuredChange::saving() const {
  if (!comparison.refusals.empty() || comparison.pages.empty()) return nullptr;
  auto const& metrics = comparison.pages.front().metrics;
  return metrics.empty() ? nullptr : &metrics.front();
}

bool MeasuredChange::is_faster() const {
  auto const* const found = saving();
  return found != nullptr && found->finding.verdict == Verdict::kDifferent &&
         found->finding.shift.estimate < 0;
}

bool MeasuredChange::fails_more() const {
  return comparison.refusals.empty() && !comparison.pages.empty() &&
         reprise::fails_more(comparison.pages.front());
}

bool MeasuredChange::is_undecided() const {
  auto const* const found = saving();
  return found != nullptr && found->finding.verdict == Verdict::kUndecided && losses.empty() &&
         !fails_more();
}

const char* MeasuredChange::verdict() const {
  if (fails_more()) return "breaks the page";
  auto const* const found = saving();
  if (found == nullptr) return "not compared";
  switch (found->finding.verdict) {
    case Verdict::kSame:
      return "no effect";
    case Verdict::kDifferent:
      if (is_faster()) return losses.empty() ? "saves" : "breaks the page";
      return "costs";
    case Verdict::kUndecided:
      break;
  }
  return "undecided";
}

std::string MeasuredChange::title() const {
  if (candidates.size() == 1) return candidates.front().advice;
  return std::to_string(candidates.size()) + " together";
}

const MeasuredChange* Advice::best() const {
  // Its shift is of other loads than the first's: it was shown to be faster beside that.
  if (together && together->helps()) return &*together;
  return !changes.empty() && changes.front().is_advised() ? &changes.front() : nullptr;
}

void Advice::sort() {
  std::ranges::sort(changes, [](const MeasuredChange& a, const MeasuredChange& b) {
    auto const order = [](const MeasuredChange& each) {
      auto const* const saving = each.saving();
      return std::tuple(!each.is_advised(), !each.helps(),
                        saving == nullptr ? 0 : saving->finding.shift.estimate, each.side);
    };
    return order(a) < order(b);
  });
}

}  // namespace reprise
