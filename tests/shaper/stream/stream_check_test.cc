#include "shaper/stream/stream_check.h"

#include <gmock/gmock.h>

#include <boost/json/serialize.hpp>

#include "shaper/stream/stream_run.h"

namespace reprise {
namespace {

using testing::HasSubstr;

StreamCheck check(const std::string& link) {
  auto const checked = check_stream(*parse_link(link), 1);
  EXPECT_TRUE(checked.has_value());
  return *checked;
}

TEST(StreamCheck, MeasuresNoLessThanTheLinkTakes) {
  auto const done = check("10mbit/10mbit/40ms");
  EXPECT_EQ(done.skipped, "");
  EXPECT_GT(done.connected.expected_ms, 80);
  EXPECT_GE(done.connected.measured_ms, 80);
  ASSERT_TRUE(done.round_trip && done.transfer);
  EXPECT_GE(done.round_trip->measured_ms, 40);
  EXPECT_EQ(done.transfer_bytes, 200'000U);
  EXPECT_GE(done.transfer->measured_ms, 160);  // at the rate alone
}

TEST(StreamCheck, LeavesOutWhatWouldTakeTooLong) {
  auto const slow = check("10mbit/10mbit/280ms");
  EXPECT_TRUE(slow.round_trip);
  EXPECT_FALSE(slow.transfer);
  auto const slower = check("10mbit/10mbit/400ms");
  EXPECT_GE(slower.connected.measured_ms, 800);
  EXPECT_FALSE(slower.round_trip);
  EXPECT_THAT(check("10mbit/10mbit/800ms").skipped, HasSubstr("round trips"));
  EXPECT_THAT(check("none,loss=100%").skipped, HasSubstr("round trips"));
}

TEST(StreamRun, IsMarkedApproximate) {
  StreamRun run{.profile = *parse_link("wpt:4g"), .seed = 7, .instead_of = {}};
  run.self_check.skipped = "asked for";
  auto const json = to_json(run);
  EXPECT_EQ(json.at("shaper"), "stream");
  EXPECT_TRUE(json.at("approximate").as_bool());
  EXPECT_EQ(json.at("link_seed"), 7);
  EXPECT_EQ(json.at("self_check").at("skipped"), "asked for");
  EXPECT_TRUE(json.at("doubts").as_array().empty());
  EXPECT_TRUE(json.at("warnings").as_array().empty());
}

TEST(StreamRun, DoubtsWhatWasLate) {
  StreamRun run{.profile = *parse_link("wpt:4g"), .instead_of = {}};
  run.link.lateness = {.packets = 100, .p99 = std::chrono::milliseconds(3)};
  run.self_check.deviations = {
      {.text = "a round trip took 9.0 ms instead of 4.0 ms", .share = 1.25}};
  EXPECT_THAT(warnings_of(run),
              testing::ElementsAre(HasSubstr("a round trip"), HasSubstr("3.0 ms")));
  auto const json = to_json(run);
  EXPECT_EQ(json.at("warnings").as_array().size(), 2u);
  EXPECT_EQ(json.at("warnings"), json.at("doubts"));
  EXPECT_EQ(boost::json::serialize(json.at("deviations")),
            R"([{"text":"a round trip took 9.0 ms instead of 4.0 ms","share":1.25E0}])");
}

}  // namespace
}  // namespace reprise
