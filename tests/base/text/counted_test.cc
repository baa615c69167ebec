#include "base/text/counted.h"

#include <gtest/gtest.h>

namespace reprise {
namespace {

TEST(Counted, TakesTheSingularForOneAlone) {
  EXPECT_EQ(counted(0, "exchange"), "0 exchanges");
  EXPECT_EQ(counted(1, "exchange"), "1 exchange");
  EXPECT_EQ(counted(2, "exchange"), "2 exchanges");
}

TEST(Counted, TakesAGivenPlural) {
  EXPECT_EQ(counted(1, "body", "bodies"), "1 body");
  EXPECT_EQ(counted(21, "body", "bodies"), "21 bodies");
}

}  // namespace
}  // namespace reprise
