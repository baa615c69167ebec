#include "proxy/replay/broken_exchange.h"

#include <gtest/gtest.h>

namespace reprise {
namespace {

using std::chrono::nanoseconds;
using std::chrono::seconds;

nanoseconds patience(SessionTime queued, SessionTime end, Outcome outcome = Outcome::kCutByClient) {
  Exchange exchange;
  exchange.outcome = outcome;
  exchange.timings.queued = queued;
  exchange.timings.end = end;
  return patience_of(exchange);
}

TEST(Patience, IsAsLongAsTheClientWaited) {
  EXPECT_EQ(patience(seconds(3), seconds(8)), seconds(5));
  EXPECT_EQ(patience(seconds(0), nanoseconds(1)), nanoseconds(1));
}

TEST(Patience, IsNoneWhereTheOriginBroke) {
  EXPECT_EQ(patience(seconds(3), seconds(8), Outcome::kCutByOrigin), seconds(0));
  EXPECT_EQ(patience(seconds(3), seconds(8), Outcome::kOriginFailed), seconds(0));
}

TEST(Patience, IsNoneWhereNothingIsKnown) {
  EXPECT_EQ(patience(kNoTime, seconds(8)), seconds(0));
  EXPECT_EQ(patience(seconds(3), kNoTime), seconds(0));
  EXPECT_EQ(patience(seconds(8), seconds(3)), seconds(0));
}

TEST(Patience, EndsWhateverAnArchiveSays) {
  EXPECT_EQ(patience(seconds(0), SessionTime::max()), kPatienceMax);
  EXPECT_EQ(patience(SessionTime::min() + nanoseconds(1), SessionTime::max()), kPatienceMax);
}

}  // namespace
}  // namespace reprise
