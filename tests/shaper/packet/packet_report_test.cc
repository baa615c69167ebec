#include "shaper/packet/packet_report.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace reprise {
namespace {

using namespace std::chrono_literals;

TEST(PacketReport, TimelinesAreCutToWhatWasOnTheLink) {
  LinkTimelines lines{.down = {.width = 5ms, .spans = std::vector<LinkTimeline::Span>(6)},
                      .up = {.width = 5ms, .spans = std::vector<LinkTimeline::Span>(6)}};
  lines.up.spans[2] = {.packets = 1, .delay_mean_ms = 1.239};
  lines.down.spans[3] = {.queue_bytes = 1500.4, .rate_bps = 1e6 + 0.3, .packets = 2};
  lines.down.spans[4] = {.rate_bps = 1e-9, .drops = 1};
  EXPECT_EQ(boost::json::serialize(to_json(lines)),
            R"({"width_ms":5E0,"start_ms":1E1,)"
            R"("down":{"queue_bytes":[0,1500,0],"rate_bps":[0,1000000,0],"packets":[0,2,0],)"
            R"("delay_mean_ms":[0E0,0E0,0E0],"drops":[0,0,1]},)"
            R"("up":{"queue_bytes":[0,0,0],"rate_bps":[0,0,0],"packets":[1,0,0],)"
            R"("delay_mean_ms":[1.24E0,0E0,0E0],"drops":[0,0,0]}})");
}

TEST(PacketReport, ALinkThatCarriedNothingHasNoTimeline) {
  EXPECT_TRUE(to_json(LinkTimelines{}).is_null());
  PacketRun run;
  EXPECT_TRUE(to_json(run).at("timeline").is_null());
  run.timelines.emplace().down.spans.resize(3);
  EXPECT_TRUE(to_json(run).at("timeline").is_null());
}

TEST(PacketReport, ShowsHowTheCostOfLatePacketsGrew) {
  PacketRun run;
  run.link.lateness_curve.add(1500ms, 2ms);
  run.link.lateness_curve.add(2000500us, 2250us);
  auto const report = to_json(run);
  EXPECT_EQ(boost::json::serialize(report.at("lateness").at("growth")),
            R"({"resolution_ms":5E-2,"at_ms":[1.5E3,2.0005E3],"cost_ms":[2E0,2.25E0]})");
}

TEST(PacketReport, TellsTheDeviationsWhoseCostHasALimit) {
  PacketRun run;
  run.self_check.deviations = {{.text = "down: slow", .share = 0.5},
                               {.text = "up: lost", .share = std::nullopt}};
  auto const report = to_json(run);
  EXPECT_EQ(boost::json::serialize(report.at("doubts")), R"(["down: slow","up: lost"])");
  EXPECT_EQ(boost::json::serialize(report.at("deviations")),
            R"([{"text":"down: slow","share":5E-1}])");
}

}  // namespace
}  // namespace reprise
