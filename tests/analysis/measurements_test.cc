#include "analysis/measurements.h"

#include <gmock/gmock.h>

#include "tests/analysis/result_text.h"

using namespace reprise;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

std::string error_of(const std::string& text) {
  auto const read = parse_measurements(text);
  return read ? "" : read.error();
}

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  auto const at = text.find(what);
  EXPECT_NE(at, text.npos) << what;
  return text.replace(at, what.size(), by);
}

}  // namespace

TEST(Measurements, AreReadFromAResult) {
  auto const read = parse_measurements(result_text({load_text({.load_ms = 812.5})}));
  ASSERT_TRUE(read) << read.error();
  ASSERT_EQ(read->loads.size(), 1U);
  const LoadRow& load = read->loads.front();
  EXPECT_EQ(load.url, "https://a.test/");
  EXPECT_EQ(load.conditions, (Conditions{"chromium", "h2", "wpt:4g", "cold"}));
  EXPECT_TRUE(load.loaded);
  EXPECT_EQ(load.metrics[0], 812.5);
  EXPECT_EQ(load.metrics[5], std::nullopt);  // null where the browser does not tell
  EXPECT_THAT(load.requests, ElementsAre("GET https://a.test/"));
  EXPECT_THAT(read->replay_of(load).misses, ElementsAre("GET https://a.test/lost"));
  EXPECT_EQ(read->replay_of(load).calibration, "packet");
}

TEST(Measurements, NameTheFieldThatIsWrong) {
  auto const good = result_text({load_text({}), load_text({})});
  EXPECT_EQ(error_of(good), "");
  EXPECT_EQ(error_of(replaced(good, R"("url":"https://a.test/","run")", R"("run")")),
            "loads[0].url is missing");
  EXPECT_EQ(error_of(replaced(good, R"("load_event_ms":1000)", R"("load_event_ms":"soon")")),
            "loads[0].load_event_ms must be a number or null");
  EXPECT_EQ(error_of(replaced(good, R"("load_event_ms":1000)", R"("load_event_ms":-1)")),
            "loads[0].load_event_ms must be from 0 to 1e15");
  EXPECT_EQ(error_of(replaced(good, R"("replay":0)", R"("replay":7)")),
            "loads[0].replay is not an index into replays");
  EXPECT_EQ(error_of(replaced(good, R"("method":"GET","url":"https://a.test/")", R"("method":1)")),
            "loads[0].requests[0].method must be a text");
  EXPECT_EQ(error_of(replaced(good, "reprise-load/1", "reprise-load/2")),
            "its schema is 'reprise-load/2', not reprise-load/1");
}

TEST(Measurements, RefuseWhatIsNoJson) {
  EXPECT_THAT(error_of("no"), HasSubstr("not JSON"));
  EXPECT_THAT(error_of(std::string(100'000, '[')), HasSubstr("not JSON"));
  EXPECT_EQ(error_of("[]"), "it is not a JSON object");
}

TEST(Measurements, KnowALinkThatWasNotChecked) {
  auto const text =
      replaced(result_text({load_text({})}), R"({"ok":true})", R"({"skipped":"--no-selfcheck"})");
  auto const read = parse_measurements(text);
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(read->replays.front().calibration, "packet, self-check off (--no-selfcheck)");
}
