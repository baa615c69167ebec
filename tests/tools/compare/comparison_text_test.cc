#include "tools/compare/comparison_text.h"

#include <gmock/gmock.h>

#include "analysis/metric.h"

namespace reprise {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Loads of about `ms`, of which each two have the seed of a link, if `with_seeds`.
Measurements four_loads(double ms, bool with_seeds) {
  auto const load_event = parse_metrics("load").value().front();
  Measurements all;
  all.replays.resize(1);
  for (std::size_t i = 0; i < 4; ++i) {
    LoadRow row{.url = "https://a.test/", .loaded = true, .replay = 0};
    row.metrics[load_event] = ms + static_cast<double>(i);
    if (with_seeds) row.link_seed = i / 2;
    all.loads.push_back(std::move(row));
  }
  return all;
}

std::string compared_text(bool with_seeds) {
  CompareOptions const options{.metrics = parse_metrics("load").value()};
  return comparison_text(
      compare(four_loads(1000, with_seeds), four_loads(1500, with_seeds), options), options);
}

TEST(ComparisonText, SaysHowManyLoadsAreNeededWhereFewMayBeCompared) {
  // 2/70 of four against four, and 2/36 in two twos: the level is 5 %.
  EXPECT_THAT(compared_text(false), HasSubstr("different: load event"));
  EXPECT_THAT(compared_text(true),
              HasSubstr("undecided: 4 loads a side cannot show a difference in any of 1 metric: "
                        "make at least 5, "));
  EXPECT_THAT(compared_text(false), Not(HasSubstr("make at least")));
}

TEST(ComparisonText, SaysHowManyLoadsAreNeededAtTheLevelOfAGatesLook) {
  CompareOptions options{.metrics = parse_metrics("load").value()};
  auto at_a_look = options;
  at_a_look.level_of = [](double alpha) { return alpha / 5; };
  auto const comparison = compare(four_loads(1000, false), four_loads(1500, false), at_a_look);
  EXPECT_THAT(comparison_text(comparison, options),
              HasSubstr("undecided: 4 loads a side cannot show a difference in any of 1 metric: "
                        "make at least 5, "));
}

}  // namespace
}  // namespace reprise
