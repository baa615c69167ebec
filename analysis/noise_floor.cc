#include "analysis/noise_floor.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <tuple>
#include <utility>

#include "analysis/blocks.h"
#include "analysis/load_groups.h"
#include "analysis/lost_loads.h"
#include "analysis/metric.h"
#include "analysis/shift.h"
#include "base/text/counted.h"

namespace reprise {
namespace {

/// One metric of one page: the loads that have it, two by two the neighbours that are split up.
struct Series {
  std::vector<const LoadRow*> loads;
  std::size_t metric;
  MinimumEffect least;
};

/// In order of time. Where most loads have another one of the same link seed, the two are side by
/// side, and a load without another one is skipped: A and B of a gate's run lose the same packets.
std::vector<const LoadRow*> neighbours(const LoadGroup& group, std::size_t metric) {
  std::vector<const LoadRow*> all, paired;
  std::map<std::optional<std::uint64_t>, const LoadRow*> waiting;
  for (const LoadRow* load : group.loads) {
    if (!load->metrics[metric]) continue;
    all.push_back(load);
    auto const [partner, is_first] = waiting.try_emplace(load->link_seed, load);
    if (is_first) continue;
    paired.push_back(partner->second);
    paired.push_back(load);
    waiting.erase(partner);
  }
  return 2 * paired.size() > all.size() ? paired : all;
}

/// B is called different once it is larger by more than this. `level` is that of the first metric
/// that differs, by Holm. Infinite if the samples are too small for that level.
double needed_shift(const Samples& samples, const Finding& finding, double level) {
  bool const in_blocks = !samples.blocks.empty();
  if (in_blocks && pairs_in(samples.blocks) == 0) return std::numeric_limits<double>::infinity();
  auto const shift =
      in_blocks ? blocked_shift(samples.blocks, level) : shift_between(samples.a, samples.b, level);
  return std::max(-shift.low, finding.minimum_effect - shift.estimate);
}

double variation_of(const std::vector<double>& values) {
  double const mean =
      std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  return mean == 0 ? 0 : standard_deviation(values) / mean;
}

/// What four of five are at most.
double fourth_fifth(std::vector<double> values) {
  auto const at = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) * 4 / 5);
  std::ranges::nth_element(values, at);
  return *at;
}

class Splitting {
 public:
  Splitting(std::vector<Series> series, NoiseFloor& floor, const NoiseFloorOptions& options)
      : series_(std::move(series)),
        floor_(floor),
        options_(options),
        looks_(options.gate.look_every, floor.runs),
        needed_(series_.size(), std::vector<std::vector<double>>(looks_.at().size())),
        chance_(options.seed) {}

  void run() {
    for (std::size_t split = 0; split < options_.splits; ++split) split_once();
    for (std::size_t i = 0; i < series_.size(); ++i) {
      for (std::size_t look = 0; look < looks_.at().size(); ++look) {
        floor_.metrics[i].visible.push_back(
            {.runs = looks_.at()[look], .effect = fourth_fifth(std::move(needed_[i][look]))});
      }
    }
  }

 private:
  /// Which of each two neighbours goes to B, and where the stretch begins.
  struct Assignment {
    std::vector<bool> second_to_b;
    double start;  ///< as a share of the room that there is
  };

  Samples samples(const Series& series, const Assignment& by, std::size_t runs) const {
    std::size_t const room = series.loads.size() / 2 - floor_.runs;
    // Two runs of a gate have the same link seed: a stretch begins with the first of them.
    auto const first = 2 * static_cast<std::size_t>(by.start * static_cast<double>(room / 2 + 1));
    LoadGroup a, b;
    for (std::size_t i = 0; i < runs; ++i) {
      const LoadRow* one = series.loads[2 * (first + i)];
      const LoadRow* other = series.loads[2 * (first + i) + 1];
      a.loads.push_back(by.second_to_b[i] ? one : other);
      b.loads.push_back(by.second_to_b[i] ? other : one);
    }
    return {.a = values_of(a, series.metric),
            .b = values_of(b, series.metric),
            .least = series.least,
            .blocks = blocks_of(a, b, series.metric)};
  }

  void split_once() {
    Assignment by;
    for (std::size_t i = 0; i < floor_.runs; ++i) by.second_to_b.push_back(chance_() >> 63);
    by.start = static_cast<double>(chance_() >> 11) * 0x1p-53;
    bool decided = false;
    for (std::size_t look = 0; look < looks_.at().size(); ++look) {
      std::vector<Samples> all;
      for (const Series& each : series_) all.push_back(samples(each, by, looks_.at()[look]));
      double const alpha = options_.gate.compare.alpha;
      auto const findings =
          judge(all, alpha, [&](double share) { return looks_.level(look, share); });
      double const level = looks_.level(look, alpha / static_cast<double>(all.size()));
      for (std::size_t i = 0; i < findings.size(); ++i) {
        needed_[i][look].push_back(needed_shift(all[i], findings[i], level));
      }
      if (!decided) decided = count(findings);
    }
    if (!decided) ++floor_.undecided;
  }

  /// Whether a gate would stop here.
  bool count(const std::vector<Finding>& findings) {
    auto const verdict = verdict_of(findings);
    if (verdict == Verdict::kUndecided) return false;
    if (verdict == Verdict::kSame) {
      ++floor_.same;
      return true;
    }
    ++floor_.different;
    for (std::size_t i = 0; i < findings.size(); ++i) {
      floor_.metrics[i].alarms += findings[i].verdict == Verdict::kDifferent;
    }
    return true;
  }

  std::vector<Series> series_;
  NoiseFloor& floor_;
  const NoiseFloorOptions& options_;
  Looks looks_;
  std::vector<std::vector<std::vector<double>>> needed_;  // by metric, look, split
  std::mt19937_64 chance_;
};

/// A side of the smallest split.
constexpr std::size_t kLeastRuns = 4;

std::string too_few() {
  return "too few counted loads: at least " + std::to_string(2 * kLeastRuns) + " are needed";
}

/// "https://a.test/ (chromium, h2, link none, cold)".
std::string page_text(const std::string& url, const LoadConfiguration& its) {
  return url + " (" + its.browser + ", " + its.protocol + ", link " + its.link + ", " + its.cache +
         ")";
}

/// The loads of a group that do not count: "3 of 40 loads do not count: ..."; empty if all do.
std::string lost_text_of(const LoadGroup& group, const Measurements& all) {
  auto const skipped = std::ranges::find_if(all.loads, [&](const LoadRow& load) {
    return !load.warm_up && !load.skipped.empty() && load.url == group.url &&
           load.conditions == group.conditions;
  });
  LostLoads lost;
  lost.disturbed.loads = group.doubtful + group.repeated;
  if (!group.warnings.empty()) {
    lost.disturbed.first = group.warnings.front();
  } else if (skipped != all.loads.end()) {
    lost.disturbed.first = skipped->skipped;
  }
  lost.failed.loads = group.failed;
  if (!group.failures.empty()) lost.failed.first = group.failures.front();
  lost.made = group.loads.size() + lost.lost();
  return lost_text(lost);
}

/// One metric of one page, and what is told about it.
struct NoiseSeries {
  MetricNoise noise;
  Series series;
  std::string lost;  ///< lost_text_of() its page

  /// A side.
  std::size_t runs() const { return series.loads.size() / 2; }
  /// "load event of https://a.test/ (chromium, h2, link none, cold) has 7 loads".
  std::string text() const {
    auto out = std::string(kMetrics[noise.metric].title) + " of " +
               page_text(noise.url, noise.conditions) + " has " + counted(noise.loads, "load");
    if (series.loads.size() + 1 < noise.loads) {
      out += ", " + std::to_string(series.loads.size()) +
             " of which have another one of the same link seed";
    }
    return out;
  }
};

/// Of each page, each metric that some loads have. `lost` gets a line for each page of which loads
/// do not count.
std::vector<NoiseSeries> series_of(const Measurements& loads, const CompareOptions& compare,
                                   std::vector<std::string>& lost) {
  std::vector<NoiseSeries> all;
  auto counting = counted_loads(compare);
  counting.usual_steal = usual_steal(loads);
  for (const LoadGroup& group : groups_of(loads, counting)) {
    auto const lost_loads = lost_text_of(group, loads);
    if (!lost_loads.empty()) {
      lost.push_back(page_text(group.url, group.conditions) + ": " + lost_loads);
    }
    for (std::size_t const metric : metrics_of(compare)) {
      auto const values = values_of(group, metric);
      if (values.empty()) continue;
      all.push_back({.noise = {.url = group.url,
                               .conditions = group.conditions,
                               .metric = metric,
                               .loads = values.size(),
                               .median = median(values),
                               .variation = variation_of(values)},
                     .series = {.loads = neighbours(group, metric),
                                .metric = metric,
                                .least = minimum_effect(compare, metric)},
                     .lost = lost_loads});
    }
  }
  return all;
}

}  // namespace

std::pair<double, double> share_interval(std::size_t hits, std::size_t trials) {
  constexpr double kZ = 1.959963985;
  auto const n = static_cast<double>(trials);
  double const share = static_cast<double>(hits) / n;
  double const middle = (share + kZ * kZ / (2 * n)) / (1 + kZ * kZ / n);
  double const half =
      kZ / (1 + kZ * kZ / n) * std::sqrt(share * (1 - share) / n + kZ * kZ / (4 * n * n));
  return {std::max(0.0, middle - half), std::min(1.0, middle + half)};
}

std::expected<NoiseFloor, std::string> noise_floor(const Measurements& loads,
                                                   const NoiseFloorOptions& options) {
  std::vector<std::string> lost;
  auto all = series_of(loads, options.gate.compare, lost);
  if (all.empty()) {
    return std::unexpected(too_few() +
                           (lost.empty() ? ", and none has a metric" : "; " + lost.front()));
  }
  NoiseSeries const most = *std::ranges::max_element(all, {}, &NoiseSeries::runs);
  if (most.runs() < kLeastRuns) {
    return std::unexpected(too_few() + ", and " + most.text() +
                           (most.lost.empty() ? "" : "; " + most.lost));
  }
  NoiseFloor floor{.splits = options.splits, .runs = options.gate.most_runs};
  floor.remarks = std::move(lost);
  std::string limit;
  std::vector<Series> series;
  for (NoiseSeries& each : all) {
    if (each.runs() < kLeastRuns) {
      floor.remarks.push_back("skipped: " + each.text() + "; at least " +
                              std::to_string(2 * kLeastRuns) + " are needed");
      continue;
    }
    if (each.runs() < floor.runs) {
      floor.runs = each.runs();
      limit = each.text();
    }
    floor.metrics.push_back(std::move(each.noise));
    series.push_back(std::move(each.series));
  }
  if (floor.runs < std::min(most.runs(), options.gate.most_runs)) {
    floor.remarks.push_back("splits have " + counted(floor.runs, "run") + " per side, because " +
                            limit + "; other metrics or pages have more");
  }
  Splitting(std::move(series), floor, options).run();
  std::tie(floor.rate_low, floor.rate_high) = share_interval(floor.different, floor.splits);
  return floor;
}

}  // namespace reprise
