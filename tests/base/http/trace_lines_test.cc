#include "base/http/trace_lines.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace reprise {
namespace {

using testing::ElementsAre;

std::vector<std::string> lines_of(std::string_view value) {
  std::vector<std::string> lines;
  while (!value.empty()) lines.emplace_back(take_trace_line(value));
  return lines;
}

TEST(TraceLines, AreSeparatedByCommasThatALineFollows) {
  EXPECT_THAT(lines_of("url=/t,1"), ElementsAre("url=/t,1"));
  EXPECT_THAT(lines_of("url=/t?a=1,b=2 , URL=/t"), ElementsAre("url=/t?a=1,b=2", "URL=/t"));
  EXPECT_THAT(lines_of("URL=/t\t,\t Base64Lines=1; base64bytes=4,0=AAAA"),
              ElementsAre("URL=/t", "Base64Lines=1; base64bytes=4", "0=AAAA"));
  EXPECT_THAT(lines_of("url=/t,,7=x"), ElementsAre("url=/t,", "7=x"));
  EXPECT_THAT(lines_of(""), ElementsAre());
}

TEST(TraceNumber, IsDigitsAlone) {
  EXPECT_EQ(trace_number("18446744073709551615"), 18446744073709551615U);
  for (auto const* const text : {"18446744073709551616", "", "-1", "+1", " 1", "1 ", "x"}) {
    EXPECT_FALSE(trace_number(text)) << text;
  }
}

}  // namespace
}  // namespace reprise
