#include "pageload/results/metric.h"

#include <gtest/gtest.h>

#include <set>

namespace reprise {
namespace {

TEST(Metrics, AreEachANumberOfItsOwnWithANameOfItsOwn) {
  std::set<std::string_view> fields;
  std::set<std::string_view> names;
  for (const Metric& metric : kMetrics) {
    EXPECT_TRUE(fields.insert(metric.field).second) << metric.field;
    if (!metric.name.empty()) {
      EXPECT_TRUE(names.insert(metric.name).second) << metric.name;
    }
    EXPECT_EQ(metric.name.empty(), metric.title.empty()) << metric.field;
    PageLoad load;
    load.*metric.value = 7;
    for (const Metric& other : kMetrics) {
      EXPECT_EQ((load.*other.value).has_value(), other.field == metric.field) << other.field;
    }
  }
}

TEST(Metrics, ThatThePageShowsInOtherPlacesHaveALabel) {
  for (const Metric& metric : kMetrics) {
    if (!metric.mark.empty() || !metric.column.empty()) {
      EXPECT_FALSE(metric.label.empty()) << metric.field;
    }
  }
}

TEST(SumUp, CountsWhatIsNotCountedYet) {
  PageLoad load{.requests = {{.encoded_bytes = 60}, {.encoded_bytes = 40}}, .request_count = 9};
  sum_up(load);
  EXPECT_EQ(load.encoded_bytes, 100);
  EXPECT_EQ(load.request_count, 9);
  EXPECT_EQ(load.connection_count, std::nullopt) << "the browser tells of none";
  load.requests = {{.connection = 3}, {.connection = 3}, {.connection = 5}};
  sum_up(load);
  EXPECT_EQ(load.connection_count, 2);
}

TEST(LoadOutcomes, HaveTheNamesOfTheSchema) {
  for (auto const* name :
       {"loaded", "timed-out", "navigation-failed", "browser-died", "not-in-archive"}) {
    EXPECT_EQ(to_string(load_outcome(name)), name);
  }
  EXPECT_EQ(load_outcome("of a later version"), LoadOutcome::kUnknown);
}

}  // namespace
}  // namespace reprise
