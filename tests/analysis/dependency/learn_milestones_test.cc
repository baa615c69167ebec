// What milestones wait for, and what they do not.

#include <gmock/gmock.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "analysis/dependency/learn.h"
#include "tests/analysis/dependency/observed_trees.h"

namespace reprise {
namespace {

TEST(LearnMilestones, LetsNoPaintWaitForWhatIsInAFrame) {
  auto load =
      written_load({{"https://a.test/go", "Document", 0, 10, 10, "", "302"},
                    {kWrittenPage, "Document", 10, 50, 70, ""},
                    {"https://a.test/a.css", "Stylesheet", 55, 80, 95, kWrittenPage},
                    {"https://b.test/go", "Document", 60, 65, 65, kWrittenPage, "302"},
                    {"https://b.test/frame", "Document", 65, 80, 90, kWrittenPage},
                    {"https://b.test/b.css", "Stylesheet", 91, 95, 99, "https://b.test/frame"},
                    {"https://b.test/b.js", "Script", 92, 95, 99, "https://b.test/frame"},
                    {"https://b.test/c.js", "Script", 100, 104, 105, "https://b.test/b.js"},
                    {"https://b.test/d.png", "Image", 106, 108, 164, "https://b.test/b.css"}});
  add_task(load, "https://b.test/c.js", 106, 110);
  load.milestones = {120'000, 165'000, 200'000, 200'000};
  std::vector<ObservedPage> const loads = {load, load};
  auto const graph = learn_dependencies(loads);
  EXPECT_THAT(waited_for(graph, "first contentful paint"),
              testing::UnorderedElementsAre("go", "page", "a.css"));
  EXPECT_THAT(waited_for(graph, "largest contentful paint"),
              testing::UnorderedElementsAre("go", "page", "a.css", "first contentful paint"));
  EXPECT_THAT(waited_for(graph, "load event"),
              testing::IsSupersetOf({"go", "frame", "b.css", "b.js", "d.png"}));
}

TEST(LearnMilestones, LetsNoPaintWaitForAModule) {
  std::vector<ObservedPage> loads;
  for (std::int64_t late : {0, 9}) {
    auto load = written_load({{kWrittenPage, "Document", 0, 50, 70, ""},
                              {"https://a.test/app.js", "Script", 55, 80, 85 + late, kWrittenPage},
                              {"https://a.test/old.js", "Script", 56, 80, 95, kWrittenPage}});
    for (Call& call : load.calls.calls) {
      if (call.attribute("type") != "Script") continue;
      call.set("priority", "High");
      call.set("render_blocking", call.name.ends_with("app.js") ? "non_blocking" : "blocking");
    }
    load.milestones[0] = 120'000 + 20'000 * late;
    loads.push_back(std::move(load));
  }
  EXPECT_THAT(waited_for(learn_dependencies(loads), "first contentful paint"),
              testing::UnorderedElementsAre("page", "old.js"));
}

TEST(LearnMilestones, LetsNoPaintWaitForTheLoadEventBeforeIt) {
  auto load = written_load({{kWrittenPage, "Document", 0, 50, 70, ""},
                            {"https://a.test/a.css", "Stylesheet", 55, 80, 95, kWrittenPage}});
  load.milestones = {120'000, 165'000, 130'000, 200'000};
  EXPECT_THAT(waited_for(learn_dependencies(std::vector{load, load}), "largest contentful paint"),
              testing::UnorderedElementsAre("page", "a.css", "first contentful paint"));
}

TEST(LearnMilestones, LetsThePageWaitForADocumentThatAScriptWentTo) {
  auto load = written_load({{"https://a.test/enter", "Document", 0, 10, 20, ""},
                            {"https://a.test/go.js", "Script", 21, 25, 30, "https://a.test/enter"},
                            {kWrittenPage, "Document", 40, 50, 70, "https://a.test/go.js"},
                            {"https://a.test/a.css", "Stylesheet", 55, 80, 95, kWrittenPage}});
  load.calls.page = kWrittenPage;
  load.milestones[0] = 120'000;
  std::vector<ObservedPage> const loads = {load, load};
  EXPECT_THAT(waited_for(learn_dependencies(loads), "first contentful paint"),
              testing::UnorderedElementsAre("enter", "go.js", "page", "a.css"));
}

TEST(LearnMilestones, LetsTheLoadEventWaitOnlyForWhatHoldsItUp) {
  auto load = written_load({{kWrittenPage, "Document", 0, 50, 100, ""},
                            {"https://a.test/frame", "Document", 60, 80, 150, kWrittenPage},
                            {"https://a.test/sync", "XHR", 61, 80, 151, kWrittenPage},
                            {"https://a.test/async", "XHR", 62, 80, 152, kWrittenPage},
                            {"https://a.test/fetch", "Fetch", 63, 80, 153, kWrittenPage},
                            {"https://a.test/ping", "Ping", 64, 80, 154, kWrittenPage},
                            {"https://a.test/check", "Preflight", 65, 80, 155, kWrittenPage},
                            {"https://a.test/next", "Prefetch", 66, 80, 156, kWrittenPage},
                            {"https://a.test/icons", "Manifest", 67, 80, 157, kWrittenPage},
                            {"https://a.test/events", "EventSource", 68, 80, 158, kWrittenPage},
                            {"https://a.test/socket", "WebSocket", 69, 80, 159, kWrittenPage}});
  for (Call& call : load.calls.calls) {
    if (call.attribute("type") == "XHR") {
      call.set("priority", call.name.ends_with("/sync") ? "VeryHigh" : "High");
    }
  }
  load.milestones = {120'000, 165'000, 200'000, 300'000};
  std::vector<ObservedPage> const loads = {load, load};
  auto const graph = learn_dependencies(loads);
  EXPECT_THAT(waited_for(graph, "load event"),
              testing::UnorderedElementsAre("page", "frame", "sync"));
  EXPECT_EQ(waited_for(graph, "last load").size(), 11U);
}

TEST(LearnMilestones, KeepWhatTheyWaitForOnAPageWithManyScriptsAndImages) {
  constexpr std::size_t kScripts = 45;
  constexpr std::size_t kImages = 1300;
  auto load = written_load({{kWrittenPage, "Document", 0, 5, 10, ""}});
  auto const add_found = [&load](const std::string& name, const char* type, std::int64_t start_ms,
                                 std::int64_t end_ms) {
    Call call{
        .name = "https://a.test/" + name, .start_us = start_ms * 1000, .end_us = end_ms * 1000};
    call.set("method", "GET");
    call.set("type", type);
    call.set("status", "200");
    call.set("priority", "High");
    call.set("initiator", kWrittenPage);
    load.calls.calls.push_back(std::move(call));
  };
  for (std::size_t i = 0; i < kScripts; ++i) {
    auto const name = std::to_string(i) + ".js";
    auto const run_ms = 30 + 2 * static_cast<std::int64_t>(i);
    add_found(name, "Script", 6, 20);
    add_task(load, "https://a.test/" + name, run_ms, run_ms + 2);
  }
  for (std::size_t i = 0; i < kImages; ++i) {
    add_found(std::to_string(i) + ".png", "Image", 130, 200);
  }
  load.milestones[static_cast<std::size_t>(Milestone::kLoadEvent)] = 300'000;
  load.milestones[static_cast<std::size_t>(Milestone::kLastLoad)] = 300'000;
  auto const graph = learn_dependencies(std::vector{load});
  EXPECT_EQ(waited_for(graph, "load event").size(), 1 + 2 * kScripts + kImages);
  EXPECT_EQ(waited_for(graph, "last load").size(), 1 + kScripts + kImages);
  EXPECT_EQ(graph.edges_not_kept, 0U);
  std::vector<std::string> runs = {"page"};
  for (std::size_t i = 0; i < kScripts; ++i) {
    runs.push_back("script of https://a.test/" + std::to_string(i) + ".js");
  }
  EXPECT_THAT(waited_for(graph, "7.png"), testing::UnorderedElementsAreArray(runs))
      << "a script's run comes after its end";
}

TEST(LearnMilestones, LetsNothingWaitForTheEndOfARequestThatDoesNotEnd) {
  auto load = written_load({{kWrittenPage, "Document", 0, 50, 100, ""},
                            {"https://a.test/a.png", "Image", 60, 80, 160, kWrittenPage},
                            {"https://a.test/film", "Media", 62, 80, 200, kWrittenPage},
                            {"https://a.test/mute", "Media", 63, 200, 200, kWrittenPage},
                            {"https://a.test/after", "Fetch", 200, 250, 260, kWrittenPage}});
  for (Call& call : load.calls.calls) {
    bool const is_media = call.attribute("type") == "Media";
    // As load_calls.cc has them: until just after the load event.
    if (is_media) ++call.end_us;
    if (is_media) call.set("unfinished", "yes");
  }
  load.milestones = {120'000, 165'000, 200'000, 261'000};
  std::vector<ObservedPage> const loads = {load, load, load, load};
  auto const graph = learn_dependencies(loads);
  EXPECT_THAT(waited_for(graph, "load event"), testing::UnorderedElementsAre("page", "a.png"));
  EXPECT_THAT(waited_for(graph, "last load"),
              testing::UnorderedElementsAre("page", "a.png", "after"));
  EXPECT_THAT(waited_for(graph, "after"), testing::ElementsAre("page"));
}

}  // namespace
}  // namespace reprise
