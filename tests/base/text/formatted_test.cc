#include "base/text/formatted.h"

#include <gtest/gtest.h>

namespace reprise {
namespace {

using namespace std::chrono_literals;

TEST(Formatted, IsWhatPrintfPrintsOfAnyLength) {
  EXPECT_EQ(formatted("%+.1f %%, %s", 1.25, "x"), "+1.2 %, x");
  EXPECT_EQ(formatted("%s", std::string(1'000, 'a').c_str()), std::string(1'000, 'a'));
}

TEST(MsText, IsWholeUnlessDecimalsAreAskedFor) {
  EXPECT_EQ(ms_text(244.9), "245 ms");
  EXPECT_EQ(ms_text(244.94, 1), "244.9 ms");
}

TEST(DurationText, IsShort) {
  EXPECT_EQ(duration_text(40s), "40 s");
  EXPECT_EQ(duration_text(12min), "12 min");
  EXPECT_EQ(duration_text(65min + 95min), "2 h 40 min");
}

}  // namespace
}  // namespace reprise
