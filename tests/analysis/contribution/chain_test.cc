#include "analysis/contribution/chain.h"

#include <gmock/gmock.h>

#include <numeric>
#include <random>

#include "tests/analysis/contribution/call_trees.h"
#include "tests/test_seed.h"

namespace reprise {
namespace {

using testing::ElementsAre;
using Why = ChainLink::Why;

/// A request, as its own name.
void request(CallTree& tree, std::int64_t start, std::int64_t end, const char* type,
             const char* initiator = "", const char* status = "200") {
  Call call{.name = std::string(1, static_cast<char>('a' + tree.calls.size())),
            .start_us = start,
            .end_us = end};
  call.set("type", type);
  call.set("initiator", initiator);
  call.set("status", status);
  tree.calls.push_back(std::move(call));
}

std::vector<std::pair<std::uint32_t, Why>> links(const CallTree& tree) {
  std::vector<std::pair<std::uint32_t, Why>> out;
  for (ChainLink const& link : critical_chain(tree)) out.emplace_back(link.call, link.why);
  return out;
}

TEST(CriticalChain, GoesFromTheLastRequestToItsInitiators) {
  CallTree tree{.window_us = 10'000};
  request(tree, 0, 3'000, "Document");
  request(tree, 2'000, 5'000, "Stylesheet", "a");
  request(tree, 5'000, 9'000, "Font", "b");
  request(tree, 2'500, 8'000, "Image", "a");
  EXPECT_THAT(links(tree), ElementsAre(std::pair(0, Why::kFirst), std::pair(1, Why::kStarted),
                                       std::pair(2, Why::kStarted)));
}

TEST(CriticalChain, NamesTheRedirectAndWhatHeldTheDocumentUp) {
  CallTree tree{.window_us = 20'000};
  request(tree, 0, 2'000, "Document", "", "301");
  request(tree, 2'400, 6'000, "Document");
  request(tree, 5'000, 9'000, "Script", "b");
  request(tree, 9'100, 12'000, "Image", "b");
  EXPECT_THAT(links(tree), ElementsAre(std::pair(0, Why::kFirst), std::pair(1, Why::kRedirected),
                                       std::pair(2, Why::kStarted), std::pair(3, Why::kHeldUp)));
}

TEST(CriticalChain, TakesTheLastThatEndedIfNoInitiatorIsKnown) {
  CallTree tree{.window_us = 20'000};
  request(tree, 0, 2'000, "Document");
  request(tree, 5'000, 9'000, "Script");
  request(tree, 12'000, 30'000, "Image");
  EXPECT_THAT(links(tree), ElementsAre(std::pair(0, Why::kFirst), std::pair(1, Why::kEndedBefore)))
      << "what ends after the window is not waited for";
}

TEST(CriticalChain, TakesTheInitiatorThatWasStillArriving) {
  CallTree tree{.window_us = 300'000};
  request(tree, 0, 170'000, "Document");
  request(tree, 20'000, 150'000, "Script", "a");
  request(tree, 160'000, 300'000, "Image", "a");
  EXPECT_THAT(links(tree), ElementsAre(std::pair(0, Why::kFirst), std::pair(2, Why::kStarted)));
  tree.calls[0].end_us = 60'000;
  EXPECT_THAT(links(tree), ElementsAre(std::pair(0, Why::kFirst), std::pair(1, Why::kStarted),
                                       std::pair(2, Why::kHeldUp)));
}

TEST(CriticalChain, DoesNotTakeAnImageForWhatHeldTheDocumentUp) {
  CallTree tree{.window_us = 300'000};
  request(tree, 0, 60'000, "Document");
  request(tree, 21'000, 155'000, "Image", "a");
  request(tree, 160'000, 300'000, "Image", "a#top");
  EXPECT_THAT(links(tree), ElementsAre(std::pair(0, Why::kFirst), std::pair(2, Why::kStarted)));
}

TEST(CriticalChain, HasNoInitiatorThatIsTheRequestItselfOrCameLater) {
  CallTree tree{.window_us = 20'000};
  request(tree, 0, 10'000, "Document", "a");
  request(tree, 5'000, 20'000, "Image", "c");
  request(tree, 6'000, 7'000, "Image", "b");
  EXPECT_THAT(links(tree), ElementsAre(std::pair(1, Why::kFirst)));
}

TEST(CriticalChain, IsEmptyIfNothingEnded) {
  CallTree tree{.window_us = 0};
  EXPECT_TRUE(critical_chain(tree).empty());
  request(tree, 0, 9'000, "Document");
  EXPECT_TRUE(critical_chain(tree).empty());
}

TEST(ShareChain, GivesEachMomentToOneThing) {
  auto const tree = tree_of(100, {{"document", 0, 40},
                                  {"wait", 5, 30, 0, CallKind::kPhase},
                                  {"picture", 60, 90},
                                  {"beside", 0, 80},
                                  {"script", 35, 55, kNoParent, CallKind::kTask}});
  // No initiators: the chain is document, picture; the one beside it never mattered.
  auto const shares = share_chain(tree);
  EXPECT_THAT(shares.calls, ElementsAre(15, 25, 30, 0, 15));
  EXPECT_EQ(shares.gap_us, 15);
}

TEST(ShareChain, GoesThroughTheSpansThatEndedLast) {
  auto const shares = share_chain(tree_of(100, {{"request", 0, 100, kNoParent, CallKind::kSpan},
                                                {"cache", 5, 20, 0, CallKind::kSpan},
                                                {"query", 10, 60, 0, CallKind::kSpan},
                                                {"render", 70, 95, 0, CallKind::kSpan}}));
  EXPECT_THAT(shares.calls, ElementsAre(5 + 10 + 5, 5, 50, 25));
  EXPECT_EQ(shares.gap_us, 0);
}

TEST(ShareChain, SumsToTheWindowOnRandomTrees) {
  TestSeed const seed;
  std::mt19937_64 random(seed.value());
  for (int i = 0; i < 10'000; ++i) {
    auto tree = random_tree(random);
    for (std::size_t k = 1; k < tree.calls.size(); ++k) {
      if (random() % 2 == 0) tree.calls[k].set("initiator", tree.calls[random() % k].name);
      if (random() % 4 == 0) tree.calls[k].set("status", "302");
      if (random() % 2 == 0) tree.calls[k].set("type", "Script");
    }
    auto const shares = share_chain(tree);
    auto const sum = std::accumulate(shares.calls.begin(), shares.calls.end(), shares.gap_us);
    ASSERT_EQ(sum, tree.window_us) << i;
    for (std::size_t k = 0; k < tree.calls.size(); ++k) {
      ASSERT_GE(shares.calls[k], 0);
      ASSERT_LE(shares.calls[k], tree.calls[k].end_us - tree.calls[k].start_us);
    }
  }
}

}  // namespace
}  // namespace reprise
