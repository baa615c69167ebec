#include "analysis/comparison.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <tuple>
#include <utility>

#include "analysis/fisher_test.h"
#include "analysis/metric.h"
#include "analysis/unpaired_requests.h"
#include "archive/match/steady_request.h"
#include "base/text/counted.h"

namespace reprise {
namespace {

using Texts = std::set<std::string_view>;

/// "in A alone: X, Y and 7 more; in B alone: Z"; empty when neither has any.
std::string differing(const std::vector<std::string_view>& in_a,
                      const std::vector<std::string_view>& in_b) {
  constexpr std::size_t kShown = 3;
  std::string text;
  for (auto const& [only, where] : {std::pair{&in_a, "A"}, {&in_b, "B"}}) {
    if (only->empty()) continue;
    text += std::string(text.empty() ? "" : "; ") + "in " + where + " alone: ";
    for (std::size_t i = 0; i < std::min(only->size(), kShown); ++i) {
      text += std::string(i > 0 ? ", " : "") + std::string((*only)[i]);
    }
    if (only->size() > kShown) text += " and " + std::to_string(only->size() - kShown) + " more";
  }
  return text;
}

std::vector<std::string_view> only_in(const Texts& ours, const Texts& theirs) {
  std::vector<std::string_view> only;
  std::ranges::set_difference(ours, theirs, std::back_inserter(only));
  return only;
}

constexpr double kRemarkedSteal = 0.005;

std::string percent_text(double share) {
  char text[24];
  std::snprintf(text, sizeof text, "%.1f %%", share * 100);
  return text;
}

/// Of a page whose documents have different errors; 0: none.
std::string errors_text(const std::string& url, int of_a, int of_b) {
  auto const has = [](int error) {
    return error == 0 ? std::string("no error") : "the status " + std::to_string(error);
  };
  auto const* const where = of_a == 0 ? "B" : of_b == 0 ? "A" : "A and B";
  return url + " has " + has(of_a) + " in A and " + has(of_b) +
         " in B: the times of an error page are not those of the page. Repair the page in " +
         where + ", and measure again";
}

/// All loads of `group` failed, and none of the other side's, which has some.
bool fails_alone(const LoadGroup& group, const LoadGroup& other) {
  return group.failed > 0 && group.loads.empty() && other.failed == 0 && !other.loads.empty();
}

/// Too many failed to call the rest the same: more than half, or more than a fifth if none of the
/// other side's did.
bool fails_often(const LoadGroup& group, const LoadGroup& other) {
  std::size_t const part = other.failed == 0 ? 5 : 2;
  return group.failed * part > group.failed + group.loads.size();
}

/// Compares two results, a pair of groups at a time.
class Comparing {
 public:
  Comparing(const Measurements& a, const Measurements& b, const CompareOptions& options)
      : a_(a), b_(b), options_(options) {}

  Comparison run() {
    auto counted = counted_loads(options_);
    // What it took from both.
    counted.usual_steal = std::min(usual_steal(a_), usual_steal(b_));
    auto pairing = pair_up(groups_of(a_, counted), groups_of(b_, counted), options_.allowed);
    refusals_ = refusals_of(pairing);
    out_.remarks = std::move(pairing.remarks);
    check_origins();
    for (GroupPair& pair : pairing.pairs) {
      check_errors(pair.a, pair.b);
      check(pair.a, pair.b);
      out_.pages.push_back({.a = std::move(pair.a), .b = std::move(pair.b)});
    }
    if (!refusals_.empty()) {
      return {.refusals = {refusals_.begin(), refusals_.end()}};
    }
    if (a_.machine != b_.machine) {
      out_.remarks.push_back("the machines differ: " + a_.machine + " and " + b_.machine);
    }
    if (counted.usual_steal >= kRemarkedSteal) {
      out_.remarks.push_back("the host took " + percent_text(usual_steal(a_)) +
                             " of the processor time of A's loads, " +
                             percent_text(usual_steal(b_)) +
                             " of B's (steal): times vary more, and are longer, than on a machine "
                             "of one's own");
    }
    if (auto text = quota_text(a_, b_); !text.empty()) out_.remarks.push_back(std::move(text));
    remark_errors();
    remark_drops();
    remark_seeds();
    remark_unpaired();
    remark_volatile();
    judge_all();
    return std::move(out_);
  }

 private:
  void refuse(Mismatch difference, std::string text, bool may_pass = false) {
    if (options_.allowed.contains(difference)) return;
    refusals_.insert({.difference = difference, .text = std::move(text), .may_pass = may_pass});
  }

  void check_origins() {
    if (a_.archive_sha256 != b_.archive_sha256) {
      auto const named = [](const Measurements& side) {
        if (side.archive.empty()) return std::string("live pages");
        return side.archive + " (" + side.archive_sha256.substr(0, 12) + ")";
      };
      refuse(Mismatch::kArchive, "A was loaded from " + named(a_) + ", B from " + named(b_));
    }
    if (a_.what_ifs != b_.what_ifs) {
      refuse(Mismatch::kWhatIf, "the replays of A and B were changed differently by --what-if");
    }
    for (const LoadResult::Browser& ours : a_.browsers) {
      auto const theirs = std::ranges::find(b_.browsers, ours.name, &LoadResult::Browser::name);
      if (theirs == b_.browsers.end() || theirs->version == ours.version) continue;
      if (theirs->version.empty() || ours.version.empty()) continue;  // it never started
      refuse(Mismatch::kBrowser,
             ours.name + " is " + ours.version + " in A, " + theirs->version + " in B");
    }
  }

  /// Pages that are errors on one side are other pages. A few loads with another status than most
  /// failed, also those without an error of a page that is one on both sides.
  void check_errors(LoadGroup& a, LoadGroup& b) {
    if (options_.allowed.contains(Mismatch::kStatus)) return;
    auto const of_a = usual_error(a), of_b = usual_error(b);
    if (of_a != of_b && !a.loads.empty() && !b.loads.empty()) {
      bool const is_certain = always_has(a, of_a) && always_has(b, of_b);
      return refuse(Mismatch::kStatus, errors_text(a.url, of_a, of_b), !is_certain);
    }
    bool const is_error = of_a == of_b;
    if (is_error || of_a == 0) fail_others(a, of_a);
    if (is_error || of_b == 0) fail_others(b, of_b);
  }

  void check(const LoadGroup& a, const LoadGroup& b) {
    for (auto const& [group, side] : {std::pair{&a, "A"}, {&b, "B"}}) {
      if (group->loads.empty() && group->failed == 0 && group->doubtful == 0) {
        refuse(Mismatch::kPages, std::string(side) + " has no counted load of " + group->url);
      }
      // A busy moment costs its loads; a busy machine makes the rest doubtful, too.
      if (group->doubtful * 5 > group->loads.size() + group->doubtful) {
        refuse(Mismatch::kCalibration,
               "the machine disturbed " + std::to_string(group->doubtful) + " of " +
                   std::to_string(group->loads.size() + group->doubtful) + " loads of " + side +
                   ": " + group->warnings.front(),
               true);
      }
    }
    if (a.loads.empty() && b.loads.empty() && a.failed > 0 && b.failed > 0) {
      refuse(Mismatch::kPages,
             "all loads of " + a.url + " failed, in A and in B: " + b.failures.front());
    }
    if (a.loads.empty() || b.loads.empty()) return;
    check_usual(Mismatch::kRequests, "the pages request different URLs: ", a, b, requests_of,
                requests_of);
    check_usual(
        Mismatch::kMisses, "the requests missing from the archives differ: ", a, b,
        [this](const LoadGroup& group, std::size_t least) { return misses_of(group, a_, least); },
        [this](const LoadGroup& group, std::size_t least) { return misses_of(group, b_, least); });
    check_calibration(calibrations(a, a_), calibrations(b, b_));
  }

  /// `of_a`, `of_b`: what at least so many loads of a group have. What most loads of one side have,
  /// and most of the other do not, can be chance, unless one side always has it and the other
  /// never.
  template <class OfA, class OfB>
  void check_usual(Mismatch difference, const char* said, const LoadGroup& a, const LoadGroup& b,
                   OfA of_a, OfB of_b) {
    if (options_.allowed.contains(difference)) return;
    auto usual = unpaired_requests(of_a(a, most_loads(a)), of_b(b, most_loads(b)));
    volatile_names_.merge(usual.volatile_names);
    auto const text = differing(usual.a, usual.b);
    if (text.empty()) return;
    bool const is_certain = !unpaired_requests(of_a(a, 1), of_b(b, b.loads.size())).b.empty() ||
                            !unpaired_requests(of_a(a, a.loads.size()), of_b(b, 1)).a.empty();
    refuse(difference, said + text, !is_certain);
  }

  void check_calibration(const Texts& a, const Texts& b) {
    if (auto const text = differing(only_in(a, b), only_in(b, a)); !text.empty()) {
      bool const is_certain = a.size() == 1 && b.size() == 1;
      refuse(Mismatch::kCalibration, "the links were emulated in different ways: " + text,
             !is_certain);
    }
    for (auto const& [side, name] : {std::pair{&a, "A"}, {&b, "B"}}) {
      for (auto const each : *side) {
        if (each.find("--no-selfcheck") == each.npos) continue;
        refuse(Mismatch::kCalibration,
               std::string("the link was not checked in ") + name + ": " + std::string(each));
      }
    }
  }

  void remark_errors() {
    for (ComparedPage const& page : out_.pages) {
      auto const error = usual_error(page.a);
      if (error == 0 || error != usual_error(page.b)) continue;
      out_.remarks.push_back(page.a.url + " has the status " + std::to_string(error) +
                             " in A and in B: an error page was compared");
    }
  }

  void remark_drops() {
    for (ComparedPage const& page : out_.pages) {
      for (auto const& [group, all, side] : {std::tuple{&page.a, &a_, "A"}, {&page.b, &b_, "B"}}) {
        auto const text = slow_by_drops_text(drops_of(*group, *all));
        if (text.empty()) continue;
        out_.remarks.push_back(group->url + " in " + side + ": " + text);
      }
    }
  }

  void remark_seeds() {
    for (ComparedPage const& page : out_.pages) {
      if (!share_link_seeds(page.a, page.b)) continue;
      out_.remarks.push_back(page.a.url +
                             ": only loads with the same losses, by the link's seed, are compared "
                             "with each other");
    }
  }

  void remark_unpaired() {
    for (ComparedPage& page : out_.pages) {
      if (page.a.loads.empty() || page.b.loads.empty()) continue;
      page.unpaired = unpaired_loads(page.a, page.b);
      if (page.unpaired == 0) continue;
      auto const all = page.a.loads.size() + page.b.loads.size();
      auto const block = block_text(page.a, page.b);
      out_.remarks.push_back(
          page.a.url +
          (page.unpaired == all
               ? ": nothing is compared: no " + block + " has loads of both A and B"
               : ": skipped: " + std::to_string(page.unpaired) + " of " + counted(all, "load") +
                     ", because the other side has no load of the same " + block));
    }
  }

  void remark_volatile() {
    if (!volatile_names_.empty()) out_.remarks.push_back(volatile_remark(volatile_names_));
  }

  bool failures_differ(const LoadGroup& a, const LoadGroup& b) const {
    if (options_.all_failed_differ && (fails_alone(a, b) || fails_alone(b, a))) return true;
    auto const pages = static_cast<double>(out_.pages.size());
    return fisher_p({.failed = a.failed, .total = a.failed + a.loads.size()},
                    {.failed = b.failed, .total = b.failed + b.loads.size()}) <=
           options_.level_of(options_.alpha / pages);
  }

  /// So that nobody takes them for overlooked.
  void remark_failures(const LoadGroup& a, const LoadGroup& b) {
    if ((a.failed > 0) == (b.failed > 0)) return;
    const LoadGroup& failing = a.failed > 0 ? a : b;
    out_.remarks.push_back(failing.url + ": " + std::to_string(failing.failed) + " of " +
                           counted(failing.failed + failing.loads.size(), "load") + " failed in " +
                           (a.failed > 0 ? "A" : "B") +
                           " and none in the other, which chance can give");
  }

  void judge_all() {
    auto const metrics = metrics_of(options_);
    std::vector<Samples> all;
    for (ComparedPage& page : out_.pages) {
      for (std::size_t const metric : metrics) {
        Samples values{.a = values_of(page.a, metric),
                       .b = values_of(page.b, metric),
                       .least = minimum_effect(options_, metric),
                       .blocks = blocks_of(page.a, page.b, metric)};
        if (values.a.empty() && values.b.empty()) continue;
        page.metrics.push_back({.metric = metric, .finding = {}});
        all.push_back(std::move(values));
      }
    }
    auto const findings = judge(all, options_.alpha, options_.level_of);
    auto const compared = static_cast<double>(std::max<std::size_t>(all.size(), 1));
    out_.first_level = options_.level_of(options_.alpha / compared);
    out_.verdict = verdict_of(findings);
    auto next = findings.begin();
    for (ComparedPage& page : out_.pages) {
      for (ComparedMetric& each : page.metrics) each.finding = *next++;
      page.failures_differ = failures_differ(page.a, page.b);
      if (page.failures_differ) {
        out_.verdict = Verdict::kDifferent;
      } else {
        remark_failures(page.a, page.b);
      }
      page.few_count = fails_often(page.a, page.b) || fails_often(page.b, page.a);
      if ((page.metrics.empty() || page.few_count) && out_.verdict == Verdict::kSame) {
        out_.verdict = Verdict::kUndecided;
      }
    }
  }

  const Measurements& a_;
  const Measurements& b_;
  const CompareOptions& options_;
  Comparison out_;
  std::set<Refusal> refusals_;
  std::set<std::string> volatile_names_;  ///< of parameters
};

}  // namespace

CountedLoads counted_loads(const CompareOptions& options) {
  CountedLoads counted{.doubtful = options.allowed.contains(Mismatch::kCalibration)};
  for (auto const metric : metrics_of(options)) {
    if (kMetrics[metric].unit != Metric::Unit::kMs) continue;
    counted.metric = metric;
    break;
  }
  counted.least = minimum_effect(options, counted.metric);
  return counted;
}

std::vector<std::size_t> metrics_of(const CompareOptions& options) {
  return options.metrics.empty() ? compared_metrics() : options.metrics;
}

MinimumEffect minimum_effect(const CompareOptions& options, std::size_t metric) {
  if (kMetrics[metric].unit == Metric::Unit::kMs && options.least_of_times) {
    return *options.least_of_times;
  }
  return {.relative = options.least_relative, .absolute = kMetrics[metric].least_absolute};
}

std::set<Refusal> refusals_of(const Pairing& pairing) {
  // Where no page is in both, it does not help that pages may differ.
  bool const are_other_pages =
      pairing.pairs.empty() && std::ranges::all_of(pairing.obstacles, [](auto const& each) {
        return each.first == Mismatch::kPages;
      });
  std::set<Refusal> refusals;
  auto const refuse = [&](Mismatch difference, std::string text) {
    refusals.insert(
        {.difference = difference, .text = std::move(text), .may_be_allowed = !are_other_pages});
  };
  for (auto const& [difference, text] : pairing.obstacles) refuse(difference, text);
  if (pairing.pairs.empty() && pairing.obstacles.empty()) {
    refuse(Mismatch::kPages, "no page has loads in both A and B");
  }
  return refusals;
}

Comparison compare(const Measurements& a, const Measurements& b, const CompareOptions& options) {
  return Comparing(a, b, options).run();
}

std::vector<std::string> setting_remarks(const Measurements& a, const Measurements& b) {
  std::vector<std::string> remarks;
  for (auto const& [option, of_a] : a.settings) {
    auto const of_b = b.settings.find(option);
    if (of_b == b.settings.end() || of_b->second == of_a) continue;
    remarks.push_back("A was loaded with " + option + " " + of_a + ", B with " + of_b->second +
                      ": that may be the difference");
  }
  return remarks;
}

}  // namespace reprise
