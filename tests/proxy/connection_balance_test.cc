#include "proxy/connection_balance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace reprise {
namespace {

using testing::Each;
using testing::ElementsAre;

TEST(ConnectionBalance, LeavesAConnectionWhereItWasAcceptedIfNoOtherThreadHasFewer) {
  ConnectionBalance balance(3);
  EXPECT_EQ(balance.place(2), 2U);
  EXPECT_EQ(balance.place(1), 1U);
  EXPECT_EQ(balance.place(2), 0U) << "the one without";
  EXPECT_EQ(balance.place(2), 2U);
  EXPECT_THAT(balance.counts(), ElementsAre(1, 1, 2));
}

TEST(ConnectionBalance, FillsTheGapsOfEndedConnections) {
  ConnectionBalance balance(2);
  for (int i = 0; i < 6; ++i) balance.place(0);
  balance.ended(1);
  balance.ended(1);
  EXPECT_THAT(balance.counts(), ElementsAre(3, 1));
  balance.place(0);
  balance.place(0);
  EXPECT_THAT(balance.counts(), ElementsAre(3, 3));
}

TEST(ConnectionBalance, IsEvenIfAllThreadsAcceptAtOnce) {
  constexpr std::size_t kThreads = 4;
  ConnectionBalance balance(kThreads);
  {
    std::vector<std::jthread> accepting;
    for (std::size_t thread = 0; thread < kThreads; ++thread) {
      accepting.emplace_back([&balance, thread] {
        for (int i = 0; i < 1000; ++i) balance.place(thread % 2);
      });
    }
  }
  EXPECT_THAT(balance.counts(), Each(1000));
}

}  // namespace
}  // namespace reprise
