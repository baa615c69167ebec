#include "inject/deterministic.h"

#include <gtest/gtest.h>

#include "inject/rewrite.h"

namespace reprise::inject {
namespace {

using std::chrono::milliseconds;

TEST(DeterministicScript, StandsInEveryDocument) {
  auto const script = deterministic_script({.time = milliseconds(1'577'836'800'123),
                                            .seed = 0xfedcba9876543210,
                                            .clock = ClockMode::kSteady,
                                            .time_zone = "Europe/Berlin"});
  EXPECT_TRUE(InjectedScript::create({.document = {script.document}, .worker = script.worker}));
  EXPECT_TRUE(
      script.document.contains(R"({time:1577836800123,shift:"+000000000000",seeds:[1985229328,)"));
  EXPECT_TRUE(script.document.contains(R"(clock:"steady",token:"r)"));
  EXPECT_TRUE(script.document.contains(R"(zone:"Europe/Berlin"})"));
}

TEST(DeterministicScript, IsTheSameForTheSameSettingsAndAnotherForOthers) {
  PageSettings const settings{.time = milliseconds(5), .seed = 7};
  auto const text = deterministic_script(settings).document;
  EXPECT_EQ(deterministic_script(settings).document, text);
  for (auto const& other :
       {PageSettings{.time = milliseconds(6), .seed = 7},
        PageSettings{.time = milliseconds(5), .seed = 8},
        PageSettings{.time = milliseconds(5), .seed = 7, .clock = ClockMode::kAll},
        PageSettings{.time = milliseconds(5), .seed = 7, .time_zone = "UTC"}}) {
    EXPECT_NE(deterministic_script(other).document, text);
  }
}

// Or what crosses a link would depend on the day of the replay.
TEST(DeterministicScript, HasOneSizeWhateverDatesAreMovedBy) {
  auto const text = deterministic_script({}).document;
  for (long long const shift : {1LL, -1LL, 86'400LL, 253'402'300'799LL, -62'135'596'800LL}) {
    auto const other = deterministic_script({.date_shift = std::chrono::seconds(shift)}).document;
    EXPECT_EQ(other.size(), text.size()) << shift;
    EXPECT_NE(other, text);
  }
}

TEST(DeterministicScript, ForBrowsersIsThatOfDocumentsWhereTheyWereFetched) {
  auto const script = deterministic_script({.seed = 7});
  EXPECT_EQ(script.browser, "/^https?:/.test(location.href)&&" + script.document);
}

// What precedes a worker's own code stands in its first line, which a comment would swallow.
TEST(DeterministicScript, ForWorkersDoesNotNameItself) {
  auto const script = deterministic_script({});
  EXPECT_TRUE(script.document.contains("//# sourceURL=r"));
  EXPECT_FALSE(script.worker.contains("sourceURL="));
  EXPECT_TRUE(script.worker.ends_with(";"));
}

// The lines of a page keep their numbers, which are seen in stacks.
TEST(DeterministicScript, IsOneLine) {
  auto const script = deterministic_script({});
  EXPECT_FALSE(script.document.contains('\n'));
  EXPECT_FALSE(script.browser.contains('\n'));
  EXPECT_FALSE(script.worker.contains('\n'));
}

TEST(DeterministicScript, TakesNoTextThatIsNoTimeZone) {
  auto const plain = deterministic_script({}).document;
  for (auto const* const zone : {"\"", "</script", "a b", "a\nb", "\xC3\xA4", "'+alert()+'"}) {
    EXPECT_EQ(deterministic_script({.time_zone = zone}).document, plain) << zone;
  }
}

TEST(DeterministicScript, NamesItsClocks) {
  for (auto const mode : {ClockMode::kStep, ClockMode::kSteady, ClockMode::kAll}) {
    EXPECT_EQ(clock_mode_of(to_string(mode)), mode);
  }
  EXPECT_EQ(clock_mode_of("Step"), std::nullopt);
}

}  // namespace
}  // namespace reprise::inject
