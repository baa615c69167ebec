#include "analysis/measurements.h"

#include <gmock/gmock.h>

#include "tests/analysis/result_text.h"

using namespace reprise;
using testing::ElementsAre;

namespace {

std::string error_of(const std::string& text) {
  auto const read = measured(text);
  return read ? "" : read.error();
}

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  auto const at = text.find(what);
  EXPECT_NE(at, text.npos) << what;
  return text.replace(at, what.size(), by);
}

}  // namespace

TEST(Measurements, AreReadFromAResult) {
  auto const read = measured(result_text({load_text({.load_ms = 812.5})}));
  ASSERT_TRUE(read) << read.error();
  ASSERT_EQ(read->loads.size(), 1U);
  const LoadRow& load = read->loads.front();
  EXPECT_EQ(load.url, "https://a.test/");
  EXPECT_EQ(load.conditions, (LoadConfiguration{"chromium", "h2", "wpt:4g", "cold"}));
  EXPECT_TRUE(load.loaded);
  EXPECT_EQ(load.metrics[metric("load")], 812.5);
  EXPECT_EQ(load.metrics[metric("cls")], std::nullopt);  // null where the browser does not tell
  EXPECT_THAT(load.requests, ElementsAre("GET https://a.test/"));
  EXPECT_THAT(read->replay_of(load).misses, ElementsAre("GET https://a.test/lost"));
  EXPECT_EQ(read->replay_of(load).calibration, "packet");
}

TEST(Measurements, NameTheFieldThatIsMissing) {
  auto const good = result_text({load_text({}), load_text({})});
  EXPECT_EQ(error_of(good), "");
  EXPECT_EQ(error_of(replaced(good, R"("url":"https://a.test/","run")", R"("run")")),
            "loads[0].url is missing");
  EXPECT_EQ(error_of(replaced(good, R"("protocol":"h2",)", "")),
            "loads[0].configuration.protocol is missing");
  EXPECT_EQ(error_of(replaced(good, R"("status":200,"url":"https://a.test/")", R"("status":200)")),
            "loads[0].requests[0].url is missing");
  EXPECT_EQ(error_of("no"), "it is not JSON: syntax error");
}

TEST(Measurements, CountALoadWithAnotherOutcomeAsFailed) {
  auto const failure = [](const std::string& outcome) {
    auto const read = measured(result_text({load_text({.outcome = outcome})}));
    EXPECT_TRUE(read) << read.error();
    EXPECT_FALSE(read->loads.front().loaded);
    return read->loads.front().failure;
  };
  EXPECT_EQ(failure("timed-out"), "timed-out: ");
  EXPECT_EQ(failure("of a later version"), "unknown outcome: ");
}

TEST(Measurements, KnowALinkThatWasNotChecked) {
  auto const text =
      replaced(result_text({load_text({})}), R"({"ok":true})", R"({"skipped":"--no-selfcheck"})");
  auto const read = measured(text);
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(read->replays.front().calibration, "packet, self-check off (--no-selfcheck)");
}
