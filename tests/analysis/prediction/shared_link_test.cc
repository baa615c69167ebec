#include "analysis/prediction/shared_link.h"

#include <gmock/gmock.h>

#include <random>

#include "tests/test_seed.h"

namespace reprise {
namespace {

using testing::ElementsAre;

TEST(SharedLink, SharesItsRateEvenly) {
  SharedLink link(2);  // bytes per us
  EXPECT_EQ(link.next_end(), SharedLink::kNever);
  link.add(1, 100);
  EXPECT_EQ(link.next_end(), 50);
  EXPECT_THAT(link.advance(20), ElementsAre());
  link.add(2, 30);
  // 60 bytes are left of the first: both go on at 1 byte per us, until the second one ends.
  EXPECT_EQ(link.next_end(), 50);
  EXPECT_THAT(link.advance(50), ElementsAre(2));
  EXPECT_EQ(link.next_end(), 65);
  EXPECT_THAT(link.advance(65), ElementsAre(1));
  EXPECT_EQ(link.next_end(), SharedLink::kNever);
}

TEST(SharedLink, EndsEqualTransfersTogether) {
  SharedLink link(1);
  link.add(7, 10);
  link.add(3, 10);
  link.add(5, 0);
  EXPECT_THAT(link.advance(0), ElementsAre(5));
  EXPECT_THAT(link.advance(link.next_end()), ElementsAre(7, 3));
}

TEST(SharedLink, SendsTheMostUrgentOfAConnectionFirst) {
  SharedLink link(2);
  link.add(1, 100, 0, {.urgency = 3});
  EXPECT_THAT(link.advance(10), ElementsAre());
  link.add(2, 40, 0, {.urgency = 1});
  link.add(3, 20, 1, {.urgency = 3});
  link.add(4, 0, 0, {.urgency = 4});
  EXPECT_THAT(link.advance(10), ElementsAre(4)) << "nothing needs no turn";
  // The second and third share the link; then the second has it alone, then the first.
  EXPECT_THAT(link.advance(30), ElementsAre(3));
  EXPECT_THAT(link.advance(40), ElementsAre(2));
  EXPECT_EQ(link.next_end(), 80);
  EXPECT_THAT(link.advance(80), ElementsAre(1));
}

TEST(SharedLink, SendsWhatIsOfNoUseInPartOneAfterAnother) {
  SharedLink link(1);
  link.add(1, 30, 0, {.incremental = true});
  link.add(2, 30, 0, {.incremental = true});
  link.add(3, 20, 0, {.incremental = false});
  link.add(4, 10, 0, {.incremental = false});
  EXPECT_THAT(link.advance(20), ElementsAre(3)) << "the first, though it is longer";
  EXPECT_THAT(link.advance(30), ElementsAre(4));
  EXPECT_EQ(link.next_end(), 90);
  EXPECT_THAT(link.advance(90), ElementsAre(1, 2)) << "together";
}

TEST(SharedLink, IsUnlimitedWithoutARate) {
  SharedLink link(0);
  link.advance(5);
  link.add(1, 1e9);
  EXPECT_EQ(link.next_end(), 5);
  EXPECT_THAT(link.advance(5), ElementsAre(1));
}

TEST(SharedLink, CarriesEverythingAtItsRate) {
  for_seeds(300, [](std::uint64_t seed) {
    std::mt19937_64 random(seed);
    SharedLink link(3);
    double bytes = 0;
    double now = 0;
    std::size_t ended = 0;
    for (std::size_t i = 0; i < 50; ++i) {
      // Never idle: the next one comes before the last one ends.
      auto const size = static_cast<double>(1 + random() % 1000);
      link.add(i, size);
      bytes += size;
      if (random() % 2 == 0) continue;
      now += (link.next_end() - now) * static_cast<double>(random() % 100) / 100;
      ended += link.advance(now).size();
    }
    while (link.next_end() != SharedLink::kNever) {
      now = link.next_end();
      ended += link.advance(now).size();
    }
    ASSERT_EQ(ended, 50);
    ASSERT_NEAR(now, bytes / 3, 1e-6 * bytes);
  });
}

}  // namespace
}  // namespace reprise
