#include "analysis/prediction/held_requests.h"

#include <gmock/gmock.h>

#include <numeric>

#include "analysis/prediction/held_back.h"

namespace reprise {
namespace {

/// Requests of an observed load; times are in ms.
class Observed {
 public:
  std::uint32_t request(int urgency, std::int64_t start, std::int64_t sent, std::int64_t end,
                        bool is_of_head = false) {
    placed_.push_back(NodeTimes{.start_us = start * 1000,
                                .sent_us = sent * 1000,
                                .first_byte_us = end * 1000,
                                .end_us = end * 1000});
    nodes_.push_back({.present = true,
                      .can_be_held_back = urgency > kUrgencyHigh,
                      .queue_us = static_cast<double>(sent - start) * 1000,
                      .urgency = urgency,
                      .is_of_head = is_of_head});
    return static_cast<std::uint32_t>(nodes_.size() - 1);
  }
  void find() {
    std::vector<std::uint32_t> requests(nodes_.size());
    std::iota(requests.begin(), requests.end(), 0);
    find_held_back(requests, placed_, setups_, nodes_);
  }
  void use_http1() {
    for (auto& node : nodes_) node.protocol = PredictedProtocol::kH1;
  }
  /// It begins to make a connection of its own.
  void connect(std::uint32_t node, std::int64_t at) {
    setups_.push_back({.node = node, .start_us = at * 1000, .length_us = 60'000});
    nodes_[node].hold_us = static_cast<double>(at * 1000 - placed_[node]->start_us);
    nodes_[node].queue_us = 0;
  }
  void hold(std::uint32_t node, double ms) { nodes_[node].hold_us = ms * 1000; }
  const NodeParts& operator[](std::uint32_t node) const { return nodes_[node]; }

 private:
  PlacedLoad placed_;
  std::vector<SetupPhase> setups_;
  std::vector<NodeParts> nodes_;
};

// As Chromium 156 loads a page with two scripts in its head.
TEST(HeldBack, IsWhatWasSentAsSoonAsFewerThanTwoWereUnderWay) {
  Observed load;
  load.request(kUrgencyHigh, 0, 223, 288);
  auto const style = load.request(kUrgencyHigh, 315, 337, 540);
  load.request(kUrgencyHigh, 316, 536, 792, true);
  load.request(kUrgencyHigh, 317, 339, 557, true);
  auto const picture = load.request(kUrgencyLow, 317, 565, 670);
  auto const below = load.request(kUrgencyLow, 319, 673, 779);
  auto const late = load.request(kUrgencyLow, 825, 1034, 1223);
  load.find();
  EXPECT_TRUE(load[picture].is_held_back);
  EXPECT_DOUBLE_EQ(load[picture].queue_us, 8'000);
  EXPECT_TRUE(load[below].is_held_back);
  EXPECT_DOUBLE_EQ(load[below].queue_us, 3'000);
  EXPECT_FALSE(load[style].is_held_back) << "it is urgent";
  EXPECT_FALSE(load[late].is_held_back) << "nothing else was under way";
  EXPECT_DOUBLE_EQ(load[late].queue_us, 209'000);
}

TEST(HeldBack, EndsWithTheLastScriptOfTheHead) {
  Observed load;
  for (int end : {400, 500}) load.request(kUrgencyHigh, 100, 100, end);
  load.request(kUrgencyHigh, 100, 100, 300, true);
  auto const picture = load.request(kUrgencyLow, 100, 305, 600);
  load.find();
  EXPECT_TRUE(load[picture].is_held_back);
  EXPECT_DOUBLE_EQ(load[picture].queue_us, 5'000);
}

TEST(HeldBack, EndsBeforeItsConnectionIsMade) {
  Observed load;
  for (int end : {300, 301}) load.request(kUrgencyHigh, 100, 100, end, true);
  auto const picture = load.request(kUrgencyLow, 100, 520, 600);
  load.hold(picture, 230);  // asks for its connection at 330, when the script has run
  load.find();
  EXPECT_TRUE(load[picture].is_held_back);
  EXPECT_DOUBLE_EQ(load[picture].hold_us, 30'000);
  auto const other = load.request(kUrgencyLow, 100, 330, 600);
  load.hold(other, .7);  // it asked a moment before the connection was begun for another
  load.find();
  EXPECT_TRUE(load[other].is_held_back);
  EXPECT_DOUBLE_EQ(load[other].queue_us, 30'000);
}

TEST(HeldBack, IsNothingThatWaitedForLongerThanItHadTo) {
  Observed load;
  for (int end : {300, 301}) load.request(kUrgencyHigh, 100, 100, end, true);
  auto const picture = load.request(kUrgencyLow, 100, 360, 600);
  load.find();
  EXPECT_FALSE(load[picture].is_held_back);
  EXPECT_DOUBLE_EQ(load[picture].queue_us, 260'000);
}

// As Chromium 156 loads a page with many pictures of other hosts.
TEST(HeldBack, IsWhatWaitedForTenOverHttp1) {
  Observed load;
  for (int i = 0; i < 9; ++i) load.request(kUrgencyLow, 100, 160, 400 + i);
  auto const tenth = load.request(kUrgencyLow, 100, 300, 350);
  auto const waits = load.request(kUrgencyLow, 100, 420, 500);
  auto const urgent = load.request(kUrgencyHigh, 100, 420, 500);
  load.connect(tenth, 110);  // it counts from here on
  load.connect(waits, 360);
  load.find();
  EXPECT_DOUBLE_EQ(load[waits].hold_us, 260'000) << "over HTTP/2 none waits";
  load.use_http1();
  load.find();
  EXPECT_DOUBLE_EQ(load[waits].hold_us, 10'000);
  EXPECT_FALSE(load[waits].is_held_back);
  EXPECT_DOUBLE_EQ(load[urgent].queue_us, 320'000);
}

TEST(HeadRequests, LetsThemGoInTheOrderOfAskingWhileFewerThanTwoAreUnderWay) {
  HeadRequests head({false, true, true, false, false});
  EXPECT_TRUE(head.make(1, false));
  EXPECT_TRUE(head.make(2, false));
  EXPECT_FALSE(head.make(4, true));
  EXPECT_FALSE(head.make(3, true));
  EXPECT_THAT(head.ended(0), testing::IsEmpty()) << "it was never made";
  EXPECT_THAT(head.ended(1), testing::ElementsAre(4));
  EXPECT_THAT(head.ended(4), testing::ElementsAre(3));
  EXPECT_THAT(head.ended(2), testing::IsEmpty());
  EXPECT_TRUE(head.make(0, true)) << "the body has begun";
}

TEST(DelayableRequests, AreTenAtMostAndLetTheMostUrgentGoFirst) {
  DelayableRequests requests;
  auto const make = [&requests](std::uint32_t node, int urgency, bool is_delayable = true) {
    return requests.make(
        {.node = node, .origin = node, .urgency = urgency, .is_delayable = is_delayable});
  };
  for (std::uint32_t node = 0; node < 10; ++node) EXPECT_TRUE(make(node, kUrgencyLow));
  EXPECT_TRUE(make(20, kUrgencyLow, false));
  EXPECT_FALSE(make(10, kUrgencyLow));
  EXPECT_FALSE(make(11, kUrgencyMedium));
  EXPECT_FALSE(requests.ended(20)) << "it did not count";
  EXPECT_FALSE(requests.ended(10)) << "it waits itself";
  EXPECT_EQ(requests.ended(0), 11U);
  EXPECT_TRUE(make(11, kUrgencyMedium)) << "it went on";
  EXPECT_EQ(requests.ended(11), 10U);
  EXPECT_FALSE(requests.ended(10));
}

TEST(DelayableRequests, WaitWhileSixRequestsAreUnderWayToTheirOrigin) {
  DelayableRequests requests;
  auto const make = [&requests](std::uint32_t node, int urgency, std::size_t origin) {
    return requests.make({.node = node,
                          .origin = origin,
                          .urgency = urgency,
                          .is_delayable = urgency > kUrgencyHigh});
  };
  for (std::uint32_t node = 0; node < 6; ++node) EXPECT_TRUE(make(node, kUrgencyHigh, 0));
  EXPECT_TRUE(make(6, kUrgencyHigh, 0)) << "an urgent one waits for a connection instead";
  EXPECT_FALSE(make(7, kUrgencyLow, 0));
  EXPECT_TRUE(make(8, kUrgencyLow, 1)) << "of another origin";
  EXPECT_FALSE(requests.ended(0)) << "six are left";
  EXPECT_EQ(requests.ended(1), 7U);
}

}  // namespace
}  // namespace reprise
