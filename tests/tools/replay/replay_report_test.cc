#include "tools/replay/replay_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reprise {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

Miss miss_of(const std::string& url) {
  return {.method = "GET", .url = url, .count = 1, .reason = "not recorded", .nearest = {}};
}

TEST(MissesText, HasTheNearestRecordedRequestOfEach) {
  EXPECT_EQ(misses_text({}), "");
  auto miss = miss_of("http://a.test/?id=3");
  miss.nearest = {{.url = "http://a.test/?id=1", .why = "query parameter id differs: 1 -> 3"},
                  {.url = "http://a.test/?id=2", .why = "query parameter id differs: 2 -> 3"}};
  EXPECT_EQ(misses_text({miss, miss_of("http://b.test/")}),
            "miss: GET http://a.test/?id=3 (not recorded)\n"
            "  near: http://a.test/?id=1 (query parameter id differs: 1 -> 3)\n"
            "miss: GET http://b.test/ (not recorded)\n");
}

TEST(MissesText, HasTheFirstTenAndTheNumberOfTheOthers) {
  std::vector<Miss> misses;
  for (int i = 1; i <= 10; ++i) misses.push_back(miss_of("http://a.test/" + std::to_string(i)));
  EXPECT_THAT(misses_text(misses), EndsWith("http://a.test/10 (not recorded)\n"));
  misses.push_back(miss_of("http://a.test/11"));
  EXPECT_THAT(misses_text(misses), EndsWith("/10 (not recorded)\n1 more miss: --report FILE has "
                                            "all\n"));
}

TEST(MissesText, LetsNoControlCharacterReachTheTerminal) {
  auto miss = miss_of("http://a.test/\x1b[2J");
  miss.method = "G\nT";
  miss.nearest = {{.url = "http://a.test/\x1b", .why = "\x1b differs"}};
  auto const text = misses_text({miss});
  EXPECT_THAT(text, HasSubstr("miss: G\\x0aT http://a.test/\\x1b[2J ("));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace reprise
