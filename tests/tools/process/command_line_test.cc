#include "tools/process/command_line.h"

#include <gmock/gmock.h>

namespace reprise {
namespace {

using ::testing::HasSubstr;

TEST(Seeds, AreWholeNumbersThatJsonHolds) {
  auto const fault_of = [check = seeds()](const std::string& text) { return check(text); };
  for (auto const* const text : {"0", "7", "9007199254740992"}) EXPECT_EQ(fault_of(text), "");
  // -18446744073709551615 is 1 in 64 bits without a sign.
  for (auto const* const text : {"-1", "-0", "-18446744073709551615", "1.5", "+1", " 1", ""}) {
    EXPECT_THAT(fault_of(text), HasSubstr("is not a whole number")) << text;
  }
  EXPECT_THAT(fault_of("9007199254740993"), HasSubstr("not in range"));
}

}  // namespace
}  // namespace reprise
