#include <gtest/gtest.h>

#include "archive/match/match.h"
#include "tests/archive/archive_fixture.h"
#include "tests/archive/match/decided_kind.h"

namespace reprise {
namespace {

std::string target_of_parameters(int count) {
  std::string target = "/p?x=1";
  for (int i = 0; i < count; ++i) {
    target += "&p" + std::to_string(i) + "=" + std::to_string(i);
  }
  return target;
}

TEST(IgnoredParams, MayDifferAmongHoweverManyOthers) {
  for (int const count : {3, 100}) {  // fewer and more than are kept
    auto const target = target_of_parameters(count);
    ScratchFolder const folder;
    auto const writer = create_archive(folder / "a");
    ASSERT_TRUE(writer->begin_session({}));
    add(*writer, an_exchange(1, target + "&t=1"));
    ASSERT_TRUE(writer->end_session());
    ASSERT_TRUE(writer->close());
    auto const reader = open_archive(folder / "a");
    Matcher const matcher(*reader, 0, {.exact_only = true, .ignored_params = {"t"}});
    auto const answer_to = [&](std::string_view asked_target) {
      return decided_kind(*reader, matcher, Scheme::kHttps, asked_target);
    };
    EXPECT_EQ(answer_to(target + "&t=1"), MatchKind::kExact) << count;
    EXPECT_EQ(answer_to(target + "&t=2"), MatchKind::kFuzzy) << count;
    EXPECT_EQ(answer_to(target), MatchKind::kFuzzy) << count;
    EXPECT_EQ(answer_to(target + "&u=1"), MatchKind::kMiss) << count;
    EXPECT_EQ(answer_to("/p?x=2" + target.substr(6)), MatchKind::kMiss) << count;
  }
}

}  // namespace
}  // namespace reprise
