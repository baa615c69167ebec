#include "base/text/percent.h"

#include <gtest/gtest.h>

namespace reprise {
namespace {

TEST(Percent, DecodesBothCasesAndKeepsWhatIsNoEncoding) {
  EXPECT_EQ(percent_decoded("a%7Cb%7c%00"), std::string("a|b|\0", 5));
  EXPECT_EQ(percent_decoded("100% %4 %zz %"), "100% %4 %zz %");
  EXPECT_EQ(percent_decoded("%2525"), "%25");
  EXPECT_EQ(percent_decoded(""), "");
}

}  // namespace
}  // namespace reprise
