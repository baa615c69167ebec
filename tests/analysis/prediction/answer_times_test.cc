#include "analysis/prediction/answer_times.h"

#include <gmock/gmock.h>

namespace reprise {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Of a link with a segment in 1 ms and a round trip of 20 ms.
std::vector<double> times_of(const std::vector<ObservedAnswer>& answers) {
  SentOver const over{.bytes_per_us = TcpLink::kSegmentBytes / 1000, .round_trip_us = 20'000};
  return answer_times(over, answers, {}).at_us;
}

/// Of a connection of HTTP/2, of use only as a whole.
ObservedAnswer script_answer(double asked_us, double first_byte_us, double end_us,
                             double segments) {
  return {.asked_us = asked_us,
          .first_byte_us = first_byte_us,
          .end_us = end_us,
          .bytes = segments * TcpLink::kSegmentBytes,
          .priority = {.urgency = 1, .incremental = false},
          .is_ordered = true,
          .can_be_held = true};
}

TEST(AnswerTimes, AreTheServersWhereNothingElseExplainsThem) {
  EXPECT_THAT(times_of({}), IsEmpty());
  EXPECT_THAT(times_of({script_answer(10'000, 61'000, 61'000, 1)}),
              ElementsAre(DoubleNear(60'000, 100)));
  EXPECT_THAT(times_of({script_answer(10'000, 9'000, 12'000, 1)}), ElementsAre(10'000))
      << "not before it was asked";
}

TEST(AnswerTimes, KnowWhatWaitedInTheQueueOfAnotherConnection) {
  auto const large = script_answer(10'000, 11'000, 20'000, 10);
  auto small = script_answer(10'100, 21'000, 21'000, 1);
  small.connection = 1;
  EXPECT_THAT(times_of({large, small}), ElementsAre(10'000, DoubleNear(10'100, 100)));
}

TEST(AnswerTimes, AreNotBeforeThatOfAResponseThatGoesFirst) {
  // The first one took its server 2 ms; the others, which came behind it, could have gone before.
  auto const first = script_answer(10'000, 13'000, 22'000, 10);
  auto const second = script_answer(10'100, 23'000, 23'000, 1);
  auto const third = script_answer(10'200, 24'000, 24'000, 1);
  EXPECT_THAT(times_of({first, second, third}),
              ElementsAre(DoubleNear(12'000, 1), DoubleNear(12'001, 1), DoubleNear(12'002, 1)))
      << "in the order in which they were sent";
}

TEST(AnswerTimes, AreNoLaterForWhatIsLateByLessThanItWaited) {
  // Behind the first one the second would be there at 16 ms.
  auto const first = script_answer(10'000, 11'000, 15'000, 5);
  EXPECT_THAT(times_of({first, script_answer(10'100, 20'000, 20'000, 1)}),
              ElementsAre(10'000, DoubleNear(10'100, 100)));
  EXPECT_THAT(times_of({first, script_answer(10'100, 40'000, 40'000, 1)}),
              ElementsAre(10'000, DoubleNear(39'000, 100)));
  EXPECT_THAT(times_of({first, script_answer(14'500, 20'000, 20'000, 1)}),
              ElementsAre(10'000, DoubleNear(19'000, 100)))
      << "it has not waited as long";
}

TEST(AnswerTimes, AreNoLaterForARecordOfTlsThatHasToWaitForTheWindow) {
  // The second one begins with the last 4 segments of the second flight, at 48 ms; what its first
  // record can have at most is there with 12, of the third.
  auto const first = script_answer(10'000, 11'000, 47'000, 26);
  auto const second = script_answer(10'100, 57'000, 97'000, 50);
  EXPECT_THAT(times_of({first, second}), ElementsAre(10'000, DoubleNear(10'100, 100)));
  auto const thought = script_answer(10'100, 75'000, 115'000, 50);
  EXPECT_THAT(times_of({first, thought}), ElementsAre(10'000, DoubleNear(65'000, 100)));
}

TEST(AnswerTimes, AreNotSoLateThatTheEndIsLater) {
  // Its first byte is seen with its first record, of 11 segments and a part: 9 of them came before.
  EXPECT_THAT(times_of({script_answer(10'000, 20'000, 30'000, 20)}), ElementsAre(10'000));
  EXPECT_THAT(times_of({script_answer(10'000, 20'000, 36'000, 20)}),
              ElementsAre(DoubleNear(16'000, 100)));
  EXPECT_THAT(times_of({script_answer(10'000, 20'000, 90'000, 20)}),
              ElementsAre(DoubleNear(19'000, 100)))
      << "the end can have other reasons";
}

}  // namespace
}  // namespace reprise
