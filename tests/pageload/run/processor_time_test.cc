#include "pageload/run/processor_time.h"

#include <gtest/gtest.h>

using namespace std::chrono_literals;

namespace reprise {
namespace {

TEST(ProcessorTime, IsThatOfTheLoadAndNotOfWhatIsBeforeAndAfter) {
  ProcessorTime replay;
  EXPECT_EQ(replay.between(0s, 9s), 0s);
  replay.add(1s, 100ms);
  replay.add(2s, 600ms);  // it prepares answers while the browser starts
  replay.add(3s, 700ms);
  replay.add(5s, 2700ms);  // a page that polls after its load event
  EXPECT_EQ(replay.between(2s, 3s), 100ms);
  EXPECT_EQ(replay.between(1s, 2s), 500ms);
}

TEST(ProcessorTime, GrowsEvenlyBetweenTwoReadings) {
  ProcessorTime replay;
  replay.add(1s, 100ms);
  replay.add(2s, 300ms);
  EXPECT_EQ(replay.between(1500ms, 2s), 100ms);
  EXPECT_EQ(replay.between(0s, 1500ms), 100ms);
  EXPECT_EQ(replay.between(1s, 9s), 200ms);
}

TEST(ProcessorTime, StaysWhenTheProcessHasEnded) {
  ProcessorTime replay;
  replay.add(1s, 100ms);
  replay.add(2s, 300ms);
  replay.add(3s, 0ms);
  EXPECT_EQ(replay.between(1s, 4s), 200ms);
}

}  // namespace
}  // namespace reprise
