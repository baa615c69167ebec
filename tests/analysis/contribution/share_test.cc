#include "analysis/contribution/share.h"

#include <gmock/gmock.h>

#include <array>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "tests/analysis/contribution/call_trees.h"
#include "tests/test_seed.h"

namespace reprise {
namespace {

using testing::ElementsAre;

double percent(std::int64_t share_us, const CallTree& tree) {
  return 100.0 * static_cast<double>(share_us) / static_cast<double>(tree.window_us);
}

TEST(ShareEvenly, GivesTheFiguresOfTheArticle) {
  auto const three =
      tree_of(320'000, {{"A", 0, 320'000}, {"B", 100'000, 260'000}, {"C", 170'000, 320'000}});
  EXPECT_THAT(share_evenly(three).calls, ElementsAre(195'000, 65'000, 60'000));

  auto const beside =
      tree_of(1'200'000, {{"HTML", 0, 1'200'000}, {"CSS", 0, 1'100'000}, {"JS", 0, 1'100'000}});
  EXPECT_NEAR(percent(share_evenly(beside).calls[0], beside), 38.89, .005);

  // The article prints 72.2 %. HTML alone is 1200 of 2300 ms, which is 52.17 %, and no overlap with
  // the other two can raise its share.
  auto const after = tree_of(
      2'300'000,
      {{"HTML", 0, 1'200'000}, {"CSS", 1'200'000, 2'300'000}, {"JS", 1'200'000, 2'300'000}});
  EXPECT_NEAR(percent(share_evenly(after).calls[0], after), 52.17, .005);
}

TEST(ShareEvenly, GivesTheTimeWithoutAnyCallToTheGap) {
  auto const shares = share_evenly(tree_of(100, {{"a", 10, 30}, {"b", 50, 60}}));
  EXPECT_THAT(shares.calls, ElementsAre(20, 10));
  EXPECT_EQ(shares.gap_us, 70);
}

TEST(ShareEvenly, CountsTheDeepestActiveCall) {
  auto const shares = share_evenly(tree_of(100, {{"request", 0, 100},
                                                 {"wait", 20, 80, 0, CallKind::kPhase},
                                                 {"query", 40, 60, 1, CallKind::kSpan}}));
  EXPECT_THAT(shares.calls, ElementsAre(40, 40, 20));
}

TEST(ShareEvenly, CountsACallThatOutlastsTheOneAroundIt) {
  auto const shares = share_evenly(tree_of(
      100, {{"span", 0, 50, kNoParent, CallKind::kSpan}, {"later", 40, 100, 0, CallKind::kSpan}}));
  EXPECT_THAT(shares.calls, ElementsAre(40, 60));
}

TEST(ShareEvenly, GivesTheMainThreadOnlyGapsInTheNetwork) {
  auto const shares = share_evenly(tree_of(100, {{"request", 0, 40},
                                                 {"script", 20, 70, kNoParent, CallKind::kTask},
                                                 {"app", 0, 90, kNoParent, CallKind::kMeasure}}));
  EXPECT_THAT(shares.calls, ElementsAre(40, 30, 20));
  EXPECT_EQ(shares.gap_us, 10);
}

TEST(ShareEvenly, CutsCallsAtTheWindow) {
  auto const shares = share_evenly(tree_of(100, {{"a", 50, 150}, {"b", 120, 150}}));
  EXPECT_THAT(shares.calls, ElementsAre(50, 0));
}

TEST(ShareEvenly, RoundsByLargestRemainder) {
  auto const shares = share_evenly(tree_of(4, {{"a", 0, 4}, {"b", 0, 3}, {"c", 0, 3}}));
  EXPECT_THAT(shares.calls, ElementsAre(2, 1, 1));
}

/// The definition, one us after the other.
std::pair<std::vector<double>, std::int64_t> naive(const CallTree& tree) {
  std::vector<CallLayer> layers;
  for (Call const& call : tree.calls) {
    layers.push_back(call.parent == kNoParent ? layer_of(call.kind) : layers[call.parent]);
  }
  std::vector<double> shares(tree.calls.size());
  std::int64_t gap = 0;
  for (std::int64_t at = 0; at < tree.window_us; ++at) {
    std::vector<bool> has_active_inside(tree.calls.size());
    auto const active = [&](std::size_t i) {
      return tree.calls[i].start_us <= at && at < tree.calls[i].end_us;
    };
    for (auto i = tree.calls.size(); i-- > 0;) {
      auto const parent = tree.calls[i].parent;
      if (parent != kNoParent && (active(i) || has_active_inside[i])) {
        has_active_inside[parent] = true;
      }
    }
    std::vector<std::size_t> counted;
    for (std::size_t layer = 0; layer < kCallLayers && counted.empty(); ++layer) {
      for (std::size_t i = 0; i < tree.calls.size(); ++i) {
        if (layers[i] == static_cast<CallLayer>(layer) && active(i) && !has_active_inside[i]) {
          counted.push_back(i);
        }
      }
    }
    for (auto const i : counted) shares[i] += 1.0 / static_cast<double>(counted.size());
    if (counted.empty()) ++gap;
  }
  return {shares, gap};
}

std::int64_t sum(const Shares& shares) {
  return std::accumulate(shares.calls.begin(), shares.calls.end(), shares.gap_us);
}

TEST(ShareEvenly, IsTheNaiveSumOnRandomTrees) {
  TestSeed const seed;
  std::mt19937_64 random(seed.value());
  for (int i = 0; i < rounds_of(10'000); ++i) {
    auto const tree = random_tree(random);
    auto const shares = share_evenly(tree);
    ASSERT_EQ(sum(shares), tree.window_us);
    auto const [expected, gap] = naive(tree);
    ASSERT_EQ(shares.gap_us, gap);
    for (std::size_t k = 0; k < expected.size(); ++k) {
      ASSERT_NEAR(static_cast<double>(shares.calls[k]), expected[k], 1) << i << ", call " << k;
    }
  }
}

/// The shares of `tree` by interval, without names and order.
std::vector<std::array<std::int64_t, 3>> by_interval(const CallTree& tree) {
  auto const shares = share_evenly(tree);
  std::vector<std::array<std::int64_t, 3>> rows;
  for (std::size_t i = 0; i < tree.calls.size(); ++i) {
    rows.push_back({tree.calls[i].start_us, tree.calls[i].end_us, shares.calls[i]});
  }
  std::ranges::sort(rows);
  return rows;
}

TEST(ShareEvenly, DoesNotDependOnNamesAndOrder) {
  TestSeed const seed;
  std::mt19937_64 random(seed.value());
  for (int i = 0; i < 2'000; ++i) {
    auto tree = random_tree(random);
    for (Call& call : tree.calls) {
      call.parent = kNoParent;
      call.kind = CallKind::kRequest;
    }
    auto const before = by_interval(tree);
    std::ranges::shuffle(tree.calls, random);
    for (Call& call : tree.calls) call.name = std::to_string(random());
    ASSERT_EQ(by_interval(tree), before);
  }
}

TEST(ShareEvenly, CuttingACallInTwoMovesAtMostAMicrosecondAPiece) {
  TestSeed const seed;
  std::mt19937_64 random(seed.value());
  for (int i = 0; i < 2'000; ++i) {
    auto tree = random_tree(random);
    if (tree.calls.empty()) continue;
    auto const whole = share_evenly(tree);
    auto const cut = random() % tree.calls.size();
    Call& call = tree.calls[cut];
    auto const length = static_cast<std::uint64_t>(call.end_us - call.start_us);
    bool const has_inside =
        std::ranges::any_of(tree.calls, [cut](const Call& each) { return each.parent == cut; });
    if (has_inside || length == 0) continue;
    Call second = call;
    call.end_us = second.start_us = call.start_us + static_cast<std::int64_t>(random() % length);
    tree.calls.push_back(std::move(second));
    auto const parts = share_evenly(tree);
    ASSERT_EQ(sum(parts), tree.window_us);
    ASSERT_NEAR(static_cast<double>(parts.calls[cut] + parts.calls.back()),
                static_cast<double>(whole.calls[cut]), 2);
  }
}

}  // namespace
}  // namespace reprise
