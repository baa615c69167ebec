#include "tools/advise/advice_text.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <map>
#include <ranges>
#include <utility>

#include "base/text/printable.h"
#include "tools/compare/comparison_text.h"
#include "tools/predict/prediction_report.h"

namespace reprise {
namespace {

std::string measured_text(const MeasuredChange& change) {
  auto const* const saving = change.saving();
  if (saving != nullptr) return metric_summary(*saving);
  return change.comparison.refusals.empty() ? "the page did not load"
                                            : change.comparison.refusals.front().text;
}

class AdviceText {
 public:
  AdviceText(const AdviseRun& run, bool markdown) : run_(run), code_(markdown ? "`" : "") {
    for (const MeasuredChange& change : run.changes()) collect_remarks(change);
    if (run.together()) collect_remarks(*run.together());
  }

  std::string text() && {
    add_advice();
    add_all_that(
        [](const MeasuredChange& each) { return each.helps() && each.is_of_third_party(); },
        "What third parties cost (not advice: the page may need them):");
    add_all_that([](const MeasuredChange& each) { return !each.helps(); },
                 "Tried, and not advised:");
    add_not_tried();
    add_budget();
    add_shared_remarks();
    return std::move(text_);
  }

 private:
  struct Remark {
    std::string kind, first;
    std::size_t comparisons = 0;
  };

  /// Remarks that differ in their numbers alone are of one kind.
  static std::string kind_of(std::string remark) {
    std::erase_if(remark, [](unsigned char each) { return std::isdigit(each) != 0; });
    return remark;
  }

  void collect_remarks(const MeasuredChange& change) {
    for (const std::string& remark : change.comparison.remarks) {
      auto const kind = kind_of(remark);
      auto known = std::ranges::find(remarks_, kind, &Remark::kind);
      if (known == remarks_.end()) known = remarks_.insert(known, {kind, remark});
      ++known->comparisons;
    }
  }

  void add(const MeasuredChange& change) {
    char share[64];
    std::snprintf(share, sizeof share, "%.1f ms", change.candidates.front().share_ms);
    text_ += printable(title_of(change)) + "\n   measured: " + printable(measured_text(change)) +
             "\n   predicted: " +
             (change.predicted ? saving_text(*change.predicted) : printable(change.not_predicted));
    if (change.candidates.size() == 1) {
      text_ += "\n   observed share: " + std::string(share) + "; tried by " + code_ +
               "--what-if '" + printable(change.candidates.front().what_if) + "'" + code_;
    }
    text_ += "\n";
    if (!change.losses.empty()) {
      text_ += "   the page does less: " + printable(change.losses.text()) + "\n";
    }
    for (const std::string& each : change.comparison.remarks) {
      auto const known = std::ranges::find(remarks_, kind_of(each), &Remark::kind);
      if (known->comparisons > 1) continue;
      text_ += "   note (A: as recorded, B: changed): " + printable(each) + "\n";
    }
  }

  void add_advice() {
    std::size_t number = 0;
    for (const MeasuredChange& change : run_.changes()) {
      if (!change.is_advised()) continue;
      text_ += std::to_string(++number) + ". ";
      add(change);
    }
    if (number == 0) text_ += "No change could be shown to make the page faster.\n";
    if (!run_.together()) return;
    text_ += "\n";
    add(*run_.together());
  }

  template <class Predicate>
  void add_all_that(Predicate is_one, const char* heading) {
    bool first = true;
    for (const MeasuredChange& change : run_.changes()) {
      if (!is_one(change)) continue;
      if (std::exchange(first, false)) text_ += "\n" + std::string(heading) + "\n\n";
      text_ += "-  ";
      add(change);
    }
  }

  void add_not_tried() {
    bool first = true;
    for (const UntriedChange& each : run_.not_tried()) {
      if (std::exchange(first, false)) text_ += "\nNot measured:\n\n";
      text_ += "-  " + printable(each.candidate.advice) + "\n";
      for (auto const line : std::views::split(each.why, '\n')) {
        text_ += "   " + printable(std::string_view(line)) + "\n";
      }
    }
  }

  void add_budget() {
    if (auto const all = run_.budget_for_all()) {
      text_ += "\nThe budget was too short for all changes that could help; --budget " +
               std::to_string(all->count()) + "m is enough.\n";
    } else if (auto const more = run_.budget_to_decide()) {
      text_ +=
          "\nSome changes that seem to save time are undecided, since loads vary: about "
          "--budget " +
          std::to_string(more->count()) + "m should decide.\n";
    }
  }

  void add_shared_remarks() {
    bool first = true;
    for (Remark const& each : remarks_) {
      if (each.comparisons == 1) continue;
      if (std::exchange(first, false)) text_ += "\nNotes (A: as recorded, B: changed):\n\n";
      text_ += "-  In " + std::to_string(each.comparisons) +
               " comparisons, here the first one: " + printable(each.first) + "\n";
    }
  }

  const AdviseRun& run_;
  const char* code_;  ///< around code
  std::vector<Remark> remarks_;
  std::string text_;
};

}  // namespace

const char* verdict_of(const MeasuredChange& change) {
  auto const* const saving = change.saving();
  if (saving == nullptr) return "not compared";
  switch (saving->finding.verdict) {
    case Verdict::kSame:
      return "no effect";
    case Verdict::kDifferent:
      if (change.is_faster()) return change.losses.empty() ? "saves" : "breaks the page";
      return "costs";
    case Verdict::kUndecided:
      break;
  }
  return "undecided";
}

std::string title_of(const MeasuredChange& change) {
  if (change.candidates.size() == 1) return change.candidates.front().advice;
  return "All " + std::to_string(change.candidates.size()) + " together";
}

std::string advice_text(const AdviseRun& run, bool markdown) {
  return AdviceText(run, markdown).text();
}

}  // namespace reprise
