#include "pageload/browser/steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pageload/browser/page_steps.h"

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using namespace std::chrono_literals;

TEST(Steps, OfEachKindAreRead) {
  auto const steps = parse_steps(
      R"([{"click": "#a"}, {"into": "input", "type": "x\n"}, {"wait": ".b"}, {"wait": 1.5e2}])");
  ASSERT_TRUE(steps) << steps.error();
  EXPECT_THAT(*steps,
              ElementsAre(Step{.kind = Step::Kind::kClick, .selector = "#a"},
                          Step{.kind = Step::Kind::kType, .selector = "input", .text = "x\n"},
                          Step{.kind = Step::Kind::kAppear, .selector = ".b"},
                          Step{.kind = Step::Kind::kPause, .pause = 150ms}));
  EXPECT_EQ(to_string(steps->front()), "click #a");
}

TEST(Steps, ThatAreNoneAreNamed) {
  for (auto const each :
       {R"({"clik": "#a"})", R"({"click": 7})", R"({"click": ""})", R"({"click": "#a", "wait": 1})",
        R"({"type": "x"})", R"({"type": "", "into": "#a"})", R"({"wait": -1})", R"({"wait": 1e9})",
        R"({"wait": null})", R"({})", R"("click")", "7"}) {
    auto const steps = parse_steps(std::string(R"([{"click": "#a"}, )") + each + "]");
    ASSERT_FALSE(steps) << each;
    EXPECT_THAT(steps.error(), HasSubstr("step 2 must be one of"));
  }
  for (auto const each : {"", "{}", "[{\"click\": \"#a\"}", "[] []"}) {
    EXPECT_FALSE(parse_steps(each)) << each;
  }
  std::string many = "[";
  for (std::size_t i = 0; i < kStepsMax; ++i) many += R"({"wait":1},)";
  EXPECT_FALSE(parse_steps(many + R"({"wait":1}])"));
  EXPECT_FALSE(parse_steps(R"([{"click":")" + std::string(kStepTextMax + 1, 'a') + R"("}])"));
  EXPECT_TRUE(parse_steps(R"([{"click":")" + std::string(kStepTextMax, 'a') + R"("}])"));
}

TEST(Steps, TypeCharactersNotBytes) {
  EXPECT_THAT(characters_of("aé日\n"), ElementsAre("a", "é", "日", "\n"));
}

}  // namespace
}  // namespace reprise
