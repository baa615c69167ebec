#include "tools/advise/advice_text.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <map>
#include <ranges>
#include <utility>

#include "base/text/counted.h"
#include "base/text/formatted.h"
#include "base/text/markdown.h"
#include "base/text/printable.h"
#include "base/text/shell.h"
#include "tools/compare/comparison_text.h"
#include "tools/predict/prediction_report.h"

namespace reprise {
namespace {

std::string measured_text(const MeasuredChange& change) {
  auto const* const saving = change.saving();
  if (saving != nullptr || change.fails_more()) {
    auto const& page = change.comparison.pages.front();
    auto const failures = page.failures_differ ? failures_text(page) : std::string();
    auto const summary = saving == nullptr ? std::string() : metric_summary(*saving);
    return failures + (failures.empty() || summary.empty() ? "" : "; ") + summary;
  }
  return change.comparison.refusals.empty() ? "the page did not load"
                                            : change.comparison.refusals.front().text;
}

/// "95 %", "99.2 %", "99.95 %": never 100 %.
std::string level_text(double level) {
  auto const decimals = std::max(1, static_cast<int>(std::ceil(-std::log10(100 * (1 - level)))));
  return formatted("%.*g %%", 2 + decimals, 100 * level);
}

bool has_interval(const MeasuredChange& change) {
  auto const* const saving = change.saving();
  return saving != nullptr && saving->finding.is_compared() &&
         std::isfinite(saving->finding.shift.low);
}

class AdviceText {
 public:
  AdviceText(const Advice& advice, bool markdown) : advice_(advice), markdown_(markdown) {
    for (const MeasuredChange& change : advice.changes) collect_remarks(change);
    if (advice.together) collect_remarks(*advice.together);
  }

  std::string text() && {
    add_advice();
    add_all_that(
        [](const MeasuredChange& each) { return each.helps() && each.is_of_third_party(); },
        "What third parties cost (not advice: the page may need them):");
    add_all_that([](const MeasuredChange& each) { return !each.helps(); },
                 "Tried, and not advised:");
    add_not_tried();
    add_levels();
    add_beyond();
    add_budget();
    add_lost();
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
    text_ += safe(change.title()) + "\n   measured: " + safe(measured_text(change)) +
             "\n   predicted: " +
             (change.predicted ? saving_text(*change.predicted) : safe(change.not_predicted));
    text_ += change.candidates.size() == 1
                 ? "\n   observed share: " + std::string(share) + "; tried by "
                 : std::string("\n   tried by ");
    text_ += what_ifs(change) + "\n";
    if (!change.losses.empty()) {
      text_ += "   the page does less: " + safe(change.losses.text()) + "\n";
    }
    for (const std::string& each : change.comparison.remarks) {
      auto const known = std::ranges::find(remarks_, kind_of(each), &Remark::kind);
      if (known->comparisons > 1) continue;
      text_ += "   note (A: as recorded, B: changed): " + safe(each) + "\n";
    }
  }

  std::string safe(std::string_view text) const { return safe_text(text, markdown_); }

  /// As options of a shell's command line.
  std::string what_ifs(const MeasuredChange& change) const {
    std::string words;
    for (ChangeCandidate const& each : change.candidates) {
      words += (words.empty() ? "" : " ") + ("--what-if " + shell_quoted(printable(each.what_if)));
    }
    return markdown_ ? markdown_code(words) : words;
  }

  void add_advice() {
    std::size_t number = 0;
    for (const MeasuredChange& change : advice_.changes) {
      if (!change.is_advised()) continue;
      text_ += std::to_string(++number) + ". ";
      add(change);
    }
    bool const one_helps = std::ranges::any_of(advice_.changes, &MeasuredChange::helps);
    if (number == 0) {
      text_ += std::string("No change could be shown to make the page faster") +
               (one_helps ? ", without what third parties do" : "") + ".\n";
    }
    if (!advice_.together && advice_.left_out.empty()) return;
    text_ += "\n";
    if (advice_.together) {
      add(*advice_.together);
    } else if (std::ranges::any_of(advice_.left_out, &LeftOut::is_measured)) {
      text_ += "No two together are faster than the first.\n";
    }
    for (LeftOut const& each : advice_.left_out) {
      text_ += "   not included: " + safe(each.candidate.advice) + ": " + safe(each.why) + "\n";
    }
  }

  template <class Predicate>
  void add_all_that(Predicate is_one, const char* heading) {
    bool first = true;
    for (const MeasuredChange& change : advice_.changes) {
      if (!is_one(change)) continue;
      if (std::exchange(first, false)) text_ += "\n" + std::string(heading) + "\n\n";
      text_ += "-  ";
      add(change);
    }
  }

  void add_not_tried() {
    bool first = true;
    for (const UntriedChange& each : advice_.not_tried) {
      if (std::exchange(first, false)) text_ += "\nNot measured:\n\n";
      text_ += "-  " + safe(each.candidate.advice) + "\n";
      if (each.predicted) text_ += "   predicted: " + saving_text(*each.predicted) + "\n";
      for (auto const line : std::views::split(each.why, '\n')) {
        text_ += "   " + safe(std::string_view(line)) + "\n";
      }
    }
  }

  /// Of the changes that are measured alone; empty: there is no interval.
  std::string level_alone_text() const {
    std::vector<double> levels;
    for (const MeasuredChange& change : advice_.changes) {
      if (has_interval(change)) levels.push_back(change.level);
    }
    if (levels.empty()) return {};
    auto const [low, high] = std::ranges::minmax(levels);
    auto text = level_text(low);
    if (level_text(high) != text) text += " to " + level_text(high);
    if (advice_.changes.size() == 1) return text;
    return text + " each (" + level_text(1 - advice_.alpha) + " for all " +
           counted(advice_.changes.size(), "change") + " together)";
  }

  bool has_predicted_interval() const {
    auto const reaches_level = [](const auto& change) {
      return change.predicted && change.predicted->interval_reaches_level;
    };
    return std::ranges::any_of(advice_.changes, reaches_level) ||
           std::ranges::any_of(advice_.not_tried, reaches_level);
  }

  void add_levels() {
    auto text = level_alone_text();
    auto const add_more = [&text](const std::string& more) {
      text += (text.empty() ? "" : ", ") + more;
    };
    if (advice_.together && has_interval(*advice_.together)) {
      add_more(level_text(advice_.together->level) + " of the combination");
    }
    if (has_predicted_interval()) add_more(level_text(kPredictedLevel) + " of predictions");
    if (!text.empty()) text_ += "\nIntervals: " + text + ".\n";
  }

  void add_beyond() {
    auto const& beyond = advice_.beyond;
    if (!beyond) return;
    text_ += "\n" + counted(beyond->changes, "more change") + " could help";
    if (auto const best = beyond->best_saving_us; best && *best > 0) {
      text_ += " (the best one is predicted to save " + ms_text(*best / kUsPerMs, 1) + ")";
    }
    if (beyond->enough > beyond->candidates) {
      bool const is_all = beyond->enough >= beyond->candidates + beyond->changes;
      text_ += "; --candidates " + std::to_string(beyond->enough) +
               (is_all ? " tries all" : " tries more of them");
    }
    text_ += ".\n";
  }

  void add_budget() {
    if (auto const all = advice_.budget_for_all) {
      text_ += "\nThe budget was too short for " +
               (advice_.beyond ? "the first " + std::to_string(advice_.beyond->candidates)
                               : std::string("all")) +
               " changes that could help; --budget " + std::to_string(all->count()) +
               "m is enough.\n";
    } else if (auto const more = advice_.budget_to_decide) {
      text_ +=
          "\nSome changes that seem to save time are undecided, since loads vary: about "
          "--budget " +
          std::to_string(more->count()) + "m should decide.\n";
    }
  }

  void add_lost() {
    auto const lost = lost_text(advice_.lost);
    if (!lost.empty()) text_ += "\n" + safe(lost) + ".\n";
  }

  void add_shared_remarks() {
    bool first = true;
    for (Remark const& each : remarks_) {
      if (each.comparisons == 1) continue;
      if (std::exchange(first, false)) text_ += "\nNotes (A: as recorded, B: changed):\n\n";
      text_ += "-  In " + std::to_string(each.comparisons) +
               " comparisons, here the first one: " + safe(each.first) + "\n";
    }
  }

  const Advice& advice_;
  bool markdown_;
  std::vector<Remark> remarks_;
  std::string text_;
};

}  // namespace

std::string advice_text(const Advice& advice, bool markdown) {
  return AdviceText(advice, markdown).text();
}

std::string reason_against(const MeasuredChange& tried, const MeasuredChange& more) {
  if (!tried.losses.empty() || tried.fails_more()) return "with it, the page does less";
  auto const& decides = tried.helps() ? more : tried;
  auto const* const saving = more.saving();
  if (saving != nullptr) return "with it, " + metric_summary(*saving);
  return "not compared: " + measured_text(decides);
}

}  // namespace reprise
