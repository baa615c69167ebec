#include "shaper/packet/lateness_chain.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "tests/test_seed.h"

namespace reprise {
namespace {

using std::chrono::nanoseconds;
using namespace std::chrono_literals;

TEST(LatenessChain, IsNothingWithoutPackets) {
  EXPECT_EQ(LatenessChain().cost(), 0ns);
  EXPECT_EQ(LatenessChain().span(), 0ns);
}

// The numbers of a packet are: arrived, due, begun, written.

TEST(LatenessChain, AddsWhatWaitedForEachOther) {
  LatenessChain chain;
  chain.add({0ms, 100ms, 101ms, 101ms});    // a request
  chain.add({102ms, 202ms, 204ms, 204ms});  // its answer
  chain.add({204ms, 304ms, 307ms, 307ms});  // the next request
  EXPECT_EQ(chain.cost(), 6ms);
  EXPECT_EQ(chain.span(), 307ms);
}

TEST(LatenessChain, AddsAnAnswerThatCameWhileTheRequestWasBeingWritten) {
  LatenessChain chain;
  chain.add({0ms, 100ms, 102ms, 105ms});    // delivered within the call that wrote it
  chain.add({103ms, 203ms, 205ms, 207ms});  // its answer
  EXPECT_EQ(chain.cost(), 9ms);
}

TEST(LatenessChain, CountsOnceWhatCameBeforeTheWriteBegan) {
  LatenessChain chain;
  chain.add({0ms, 100ms, 102ms, 105ms});
  chain.add({101ms, 201ms, 203ms, 205ms});  // no answer to it
  EXPECT_EQ(chain.cost(), 5ms);
}

TEST(LatenessChain, CountsPacketsOnTheLinkAtTheSameTimeOnce) {
  LatenessChain chain;
  chain.add({0ms, 100ms, 105ms, 105ms});
  chain.add({1ms, 101ms, 106ms, 106ms});
  chain.add({2ms, 102ms, 110ms, 110ms});
  EXPECT_EQ(chain.cost(), 8ms);
}

TEST(LatenessChain, TakesNoCreditForWhatWasEarly) {
  LatenessChain chain;
  chain.add({0ms, 100ms, 103ms, 103ms});
  chain.add({103ms, 203ms, 200ms, 200ms});
  EXPECT_EQ(chain.cost(), 3ms);
}

TEST(LatenessChain, IsTheLongestPathOfRandomPackets) {
  TestSeed const seed;
  std::mt19937_64 chance(seed.value());
  std::vector<LatenessChain::Packet> packets;
  nanoseconds written{0};
  for (int i = 0; i < 500; ++i) {
    auto const begun = written + nanoseconds(chance() % 2000);
    written = begun + nanoseconds(chance() % 500);
    auto const due = begun - nanoseconds(chance() % 500);
    packets.push_back({due - nanoseconds(chance() % 20'000), due, begun, written});
  }
  LatenessChain chain;
  std::vector<nanoseconds> cost;
  for (const LatenessChain::Packet& packet : packets) {
    nanoseconds before{0};
    for (std::size_t i = 0; i < cost.size(); ++i) {
      if (packets[i].begun <= packet.arrived) before = std::max(before, cost[i]);
    }
    cost.push_back(before + packet.written - packet.due);
    chain.add(packet);
    ASSERT_EQ(chain.cost(), *std::ranges::max_element(cost));
  }
}

TEST(LatenessChain, TellsWhenItsCostGrew) {
  LatenessChain chain;
  chain.add({0ms, 100ms, 101ms, 101ms});
  chain.add({102ms, 202ms, 204ms, 204ms});
  ASSERT_EQ(chain.curve().steps().size(), 2U);
  EXPECT_EQ(chain.curve().steps()[0].time, 101ms);
  EXPECT_EQ(chain.curve().steps()[0].cost, 1ms);
  EXPECT_EQ(chain.curve().steps()[1].time, 204ms);
  EXPECT_EQ(chain.curve().steps()[1].cost, 3ms);
}

TEST(LatenessChain, StaysABoundAfterItHasForgotten) {
  LatenessChain chain;
  constexpr int kPackets = 200'000;
  for (int i = 0; i < kPackets; ++i) {
    nanoseconds const arrived = i * 10us;
    chain.add({arrived, arrived + 4us, arrived + 5us, arrived + 5us});
  }
  EXPECT_EQ(chain.cost(), kPackets * 1us);
  // One that had been on the link for all the time.
  chain.add({0ns, kPackets * 10us, kPackets * 10us + 1ms, kPackets * 10us + 1ms});
  EXPECT_GE(chain.cost(), kPackets * 1us);
}

}  // namespace
}  // namespace reprise
