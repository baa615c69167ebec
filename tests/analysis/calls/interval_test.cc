#include "analysis/calls/interval.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace reprise {
namespace {

/// The processor time of a task from 0 to 1 s that had a processor for 300 ms.
std::string processor_us_within(std::int64_t from_us, std::int64_t to_us) {
  CallTree tree{.window_us = 2'000'000};
  tree.calls.push_back({.kind = CallKind::kTask, .name = "task", .end_us = 1'000'000});
  tree.calls[0].set("processor_us", "300000");
  return std::string(within(tree, from_us, to_us).calls.at(0).attribute("processor_us"));
}

TEST(Interval, LeavesACutTaskAPartOfItsProcessorTime) {
  EXPECT_EQ(processor_us_within(0, 200'000), "60000");
  EXPECT_EQ(processor_us_within(900'000, 2'000'000), "30000");
  EXPECT_EQ(processor_us_within(400'000, 600'000), "60000");
  EXPECT_EQ(processor_us_within(0, 1'000'000), "300000") << "not cut";
  EXPECT_EQ(processor_us_within(1'000'000, 2'000'000), "0") << "its end alone";
}

TEST(Interval, KnowsNoProcessorTimeThatItsSourceDoesNotTell) {
  CallTree tree{.window_us = 2'000};
  tree.calls.push_back({.kind = CallKind::kTask, .name = "task", .end_us = 1'000});
  auto const part = within(tree, 0, 200);
  ASSERT_EQ(part.calls.size(), 1U);
  EXPECT_EQ(part.calls[0].attribute("processor_us"), "");
  EXPECT_EQ(processor_us(part.calls[0]), 200) << "all of it";
}

}  // namespace
}  // namespace reprise
