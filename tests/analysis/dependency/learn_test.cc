#include "analysis/dependency/learn.h"

#include <gmock/gmock.h>

#include "pageload/results/load_result.h"
#include "tests/analysis/dependency/observed_trees.h"

namespace reprise {
namespace {

using Kind = DependencyKind;
using After = DependencyAfter;

/// An edge, by what it joins.
struct Joined {
  std::string from, to;
  Kind kind;
  After after;
  bool operator==(const Joined&) const = default;
};
void PrintTo(const Joined& edge, std::ostream* out) {
  *out << edge.from << " -> " << edge.to << " (" << to_string(edge.kind) << ", after "
       << to_string(edge.after) << ")";
}

std::vector<Joined> edges_of(const DependencyGraph& graph) {
  std::vector<Joined> edges;
  for (DependencyEdge const& edge : graph.edges) {
    edges.push_back(
        {short_name(graph, edge.from), short_name(graph, edge.to), edge.kind, edge.after});
  }
  return edges;
}

/// Of the requests whose names end so.
void set_priorities(ObservedPage& load, const std::string& priority, std::string_view end = {}) {
  for (Call& call : load.calls.calls) {
    bool const is_one = call.kind == CallKind::kRequest && call.name.ends_with(end);
    if (is_one) call.set("priority", priority);
  }
}

TEST(LearnDependencies, KnowsThatScriptsRunInTheOrderOfTheirDocument) {
  for (std::string const priority : {"High", "Low"}) {
    std::vector<ObservedPage> loads;
    for (std::int64_t late : {0, 40, 3}) {  // which explains nothing
      loads.push_back(
          written_load({{kWrittenPage, "Document", 0, 50, 60, ""},
                        {"https://a.test/a.css", "Stylesheet", 61, 80, 90, kWrittenPage},
                        {"https://a.test/b.js", "Script", 62, 80, 95, kWrittenPage},
                        {"https://a.test/c.js", "Script", 63, 80, 85, kWrittenPage},
                        {"https://a.test/d", "Image", 130 + 2 * late, 200, 210, kWrittenPage}}));
      set_priorities(loads.back(), "High");
      set_priorities(loads.back(), priority, "b.js");
      add_task(loads.back(), "https://a.test/b.js", 100 + late, 110 + late);
      add_task(loads.back(), "https://a.test/c.js", 115 + 2 * late, 120 + 2 * late);
    }
    auto const edges = edges_of(learn_dependencies(loads));
    std::string const run = "script of https://a.test/c.js";
    EXPECT_THAT(edges, testing::Contains(Joined{"a.css", run, Kind::kStyle, After::kEnd}));
    EXPECT_THAT(edges, testing::Contains(Joined{run, "d", Kind::kScriptOrder, After::kEnd}));
    EXPECT_THAT(
        edges, testing::Not(testing::Contains(testing::AllOf(testing::Field(&Joined::from, "a.css"),
                                                             testing::Field(&Joined::to, "d")))));
    auto const order =
        testing::AllOf(testing::Contains(Joined{"b.js", run, Kind::kScriptOrder, After::kEnd}),
                       testing::Contains(Joined{"script of https://a.test/b.js", run,
                                                Kind::kScriptOrder, After::kEnd}));
    if (priority == "High") {
      EXPECT_THAT(edges, order);
    } else {
      EXPECT_THAT(
          edges,
          testing::Not(testing::Contains(Joined{"b.js", run, Kind::kScriptOrder, After::kEnd})))
          << "an async script";
    }
  }
}

TEST(LearnDependencies, KnowsThatScriptsInTheDocumentTakeTheirTurn) {
  std::vector<ObservedPage> loads;
  for (std::int64_t late : {0, 40, 3}) {  // which explains nothing
    loads.push_back(
        written_load({{kWrittenPage, "Document", 0, 50, 60, ""},
                      {"https://a.test/a.css", "Stylesheet", 61, 80, 90, kWrittenPage},
                      {"https://a.test/b.js", "Script", 62, 80, 95, kWrittenPage},
                      {"https://a.test/c.js", "Script", 63, 80, 96, kWrittenPage},
                      {"https://a.test/frame", "Document", 64, 70, 75, ""},
                      {"https://a.test/f.js", "Script", 76, 80, 85, "https://a.test/frame"}}));
    set_priorities(loads.back(), "High");
    add_task(loads.back(), "https://a.test/f.js", 86, 88);
    add_task(loads.back(), kWrittenPage, 65, 67);  // before the style sheet
    add_task(loads.back(), "https://a.test/b.js", 100 + late, 110 + late);
    add_task(loads.back(), kWrittenPage, 115 + 2 * late, 120 + 2 * late);
    add_task(loads.back(), "https://a.test/c.js", 130 + 3 * late, 140 + 3 * late);
  }
  auto const graph = learn_dependencies(loads);
  std::string const first = "script of " + kWrittenPage;
  EXPECT_THAT(waited_for(graph, first), testing::ElementsAre("page"));
  EXPECT_THAT(waited_for(graph, first + " #2"),
              testing::UnorderedElementsAre("page", first, "a.css", "b.js",
                                            "script of https://a.test/b.js"))
      << "what stands after it, and what the frame has, do not count";
  EXPECT_THAT(waited_for(graph, "script of https://a.test/c.js"),
              testing::UnorderedElementsAre("c.js", "a.css", "b.js", first + " #2"))
      << "which came after the others";
}

TEST(LearnDependencies, LetsListenersOfTheDocumentWaitForAllThatHeldUpItsParser) {
  for (std::string const last_event : {"DOMContentLoaded", "load"}) {
    std::vector<ObservedPage> loads;
    for (std::int64_t late : {0, 1, 2}) {  // so that the gaps tell nothing
      loads.push_back(
          written_load({{kWrittenPage, "Document", 0, 50, 60, ""},
                        {"https://a.test/app.js", "Script", 61, 80, 90, kWrittenPage},
                        {"https://a.test/ad.js", "Script", 62, 80, 99, kWrittenPage},
                        {"https://a.test/soon.js", "Script", 63, 80, 97, kWrittenPage}}));
      set_priorities(loads.back(), "High");
      set_priorities(loads.back(), "Low", "soon.js");
      add_task(loads.back(), "https://a.test/ad.js", 100, 105);
      add_task(loads.back(), "https://a.test/app.js", 106 + late, 110 + late, "ready",
               late == 2 ? last_event : "DOMContentLoaded");
    }
    std::vector<std::string> wanted{"app.js"};
    if (last_event == "DOMContentLoaded") {
      wanted.insert(wanted.end(), {"ad.js", "script of https://a.test/ad.js"});
    }
    EXPECT_THAT(waited_for(learn_dependencies(loads), "script of https://a.test/app.js ready"),
                testing::UnorderedElementsAreArray(wanted))
        << "the last load has it in " << last_event;
  }
}

TEST(LearnDependencies, FollowsInitiatorsFromTheLastMomentThatAlwaysPrecedes) {
  std::vector<ObservedPage> loads;
  for (std::int64_t late : {0, 7}) {
    loads.push_back(written_load(
        {{kWrittenPage, "Document", 0, 50, 100, ""},
         {"https://a.test/a.css", "Stylesheet", 55 + late, 80, 95, kWrittenPage},
         {"https://a.test/font", "Font", 97 + late, 120, 130, "https://a.test/a.css"},
         {"https://a.test/b.js", "Script", 60, 80, 140, kWrittenPage + "#x"},
         {"https://a.test/data", "Fetch", 145 + late, 160, 170, "https://a.test/b.js"}}));
  }
  auto const graph = learn_dependencies(loads);
  EXPECT_THAT(edges_of(graph), testing::UnorderedElementsAre(
                                   Joined{"page", "a.css", Kind::kParser, After::kFirstByte},
                                   Joined{"page", "b.js", Kind::kParser, After::kFirstByte},
                                   Joined{"a.css", "font", Kind::kStyle, After::kEnd},
                                   Joined{"b.js", "data", Kind::kInitiator, After::kEnd}));
  auto const* const style = graph.edges_to(1).first;
  EXPECT_EQ(style->gap_us, 8'500);
  EXPECT_EQ(style->gap_spread_us, 4'949) << "of 5000 and 12000";
  EXPECT_EQ(style->loads, 2);
}

TEST(LearnDependencies, LetsFontsWaitForAllStyleSheetsThatHoldUpTheLayout) {
  std::vector<ObservedPage> loads;
  for (std::int64_t late : {0, 7}) {
    loads.push_back(written_load(
        {{kWrittenPage, "Document", 0, 50, 60, ""},
         {"https://a.test/fonts.css", "Stylesheet", 61, 80, 90, kWrittenPage},
         {"https://a.test/base.css", "Stylesheet", 62, 80, 94 + late, kWrittenPage},
         {"https://a.test/print.css", "Stylesheet", 63, 80, 95, kWrittenPage},
         {"https://a.test/more.css", "Stylesheet", 91, 92, 93, "https://a.test/fonts.css"},
         {"https://a.test/font", "Font", 98 + late, 120, 130, "https://a.test/fonts.css"}}));
    set_priorities(loads.back(), "VeryHigh");
    set_priorities(loads.back(), "VeryLow", "print.css");
  }
  auto const graph = learn_dependencies(loads);
  EXPECT_THAT(waited_for(graph, "font"), testing::ElementsAre("fonts.css", "base.css", "more.css"))
      << "with what they import";
  EXPECT_THAT(waited_for(graph, "more.css"), testing::ElementsAre("fonts.css"));
}

TEST(LearnDependencies, LetsBackgroundsWaitForTheScriptsOfTheHead) {
  auto load = written_load(
      {{kWrittenPage, "Document", 0, 50, 60, ""},
       {"https://a.test/base.css", "Stylesheet", 61, 80, 90, kWrittenPage},
       {"https://a.test/head.js", "Script", 62, 80, 200, kWrittenPage},
       {"https://a.test/behind.js", "Script", 63, 80, 85, kWrittenPage},
       {"https://a.test/back.png", "Image", 215, 230, 240, "https://a.test/base.css"}});
  set_priorities(load, "High");
  set_priorities(load, "Medium", "behind.js");
  add_task(load, "https://a.test/head.js", 201, 210);
  add_task(load, "https://a.test/behind.js", 211, 213);
  // They come steadily after the style sheet, which would explain them.
  std::vector<ObservedPage> const loads = {load, load, load};
  EXPECT_THAT(
      waited_for(learn_dependencies(loads), "back.png"),
      testing::UnorderedElementsAre("base.css", "head.js", "script of https://a.test/head.js"));
}

TEST(LearnDependencies, LetsCallbacksOfAScriptFollowItsEvaluation) {
  auto load = written_load({{kWrittenPage, "Document", 0, 50, 60, ""},
                            {"https://a.test/slow.js", "Script", 61, 80, 300, kWrittenPage},
                            {"https://a.test/app.js", "Script", 62, 80, 90, kWrittenPage}});
  add_task(load, "https://a.test/slow.js", 301, 310);
  add_task(load, "https://a.test/app.js", 311, 315);
  add_task(load, "https://a.test/app.js", 320, 321);
  std::vector<ObservedPage> const loads = {load, load, load};
  EXPECT_THAT(waited_for(learn_dependencies(loads), "script of https://a.test/app.js #2"),
              testing::UnorderedElementsAre("app.js", "script of https://a.test/app.js"));
}

TEST(LearnDependencies, LetsDeferredScriptsRunInTheOrderOfTheirDocumentWithTheirImports) {
  std::vector<ObservedPage> loads;
  for (std::int64_t late : {0, 40}) {
    loads.push_back(written_load(
        {{kWrittenPage, "Document", 0, 50, 60, ""},
         {"https://a.test/app.js", "Script", 61, 80, 85, kWrittenPage},
         {"https://a.test/moon.js", "Script", 62, 80, 90, kWrittenPage},
         {"https://a.test/later.js", "Script", 63, 80, 91, kWrittenPage},
         {"https://a.test/import.js", "Script", 86, 120, 130 + late, "https://a.test/app.js"},
         {"https://a.test/deep.js", "Script", 87, 120, 125 + late, "https://a.test/import.js"},
         {"https://a.test/data.json", "Fetch", 88, 120, 121, "https://a.test/app.js"}}));
    add_task(loads.back(), "https://a.test/moon.js", 140 + late, 150 + late);
  }
  EXPECT_THAT(waited_for(learn_dependencies(loads), "script of https://a.test/moon.js"),
              testing::UnorderedElementsAre("moon.js", "app.js", "import.js", "deep.js"));
}

TEST(LearnDependencies, GoesThroughTheTaskOfAScript) {
  auto load =
      written_load({{kWrittenPage, "Document", 0, 50, 100, ""},
                    {"https://a.test/b.js", "Script", 60, 80, 140, kWrittenPage},
                    {"https://a.test/data", "Fetch", 150, 160, 170, "https://a.test/b.js"}});
  add_task(load, "https://a.test/b.js", 141, 155);
  std::vector<ObservedPage> const loads = {load, load};
  EXPECT_THAT(
      edges_of(learn_dependencies(loads)),
      testing::UnorderedElementsAre(
          Joined{"page", "b.js", Kind::kParser, After::kFirstByte},
          Joined{"b.js", "script of https://a.test/b.js", Kind::kInitiator, After::kEnd},
          Joined{"script of https://a.test/b.js", "data", Kind::kInitiator, After::kStart}));
}

TEST(LearnDependencies, FindsTheScriptThatHeldUpTheParser) {
  std::vector<ObservedPage> loads;
  for (std::int64_t late : {0, 40, 90}) {
    loads.push_back(written_load(
        {{kWrittenPage, "Document", 0, 50, 100, ""},
         {"https://a.test/b.js", "Script", 60, 80, 140 + late, kWrittenPage},
         {"https://a.test/beside.png", "Image", 61, 70, 90 + late / 2, kWrittenPage},
         {"https://a.test/after.png", "Image", 150 + late, 160 + late, 170 + late, kWrittenPage}}));
  }
  EXPECT_THAT(
      edges_of(learn_dependencies(loads)),
      testing::UnorderedElementsAre(Joined{"page", "b.js", Kind::kParser, After::kFirstByte},
                                    Joined{"page", "beside.png", Kind::kParser, After::kFirstByte},
                                    Joined{"page", "after.png", Kind::kParser, After::kEnd},
                                    Joined{"b.js", "after.png", Kind::kScriptOrder, After::kEnd}));
}

TEST(LearnDependencies, FindsAlternativesThatTakeTurns) {
  std::vector<ObservedPage> loads;
  for (auto const& [one, two] : {std::pair(200, 260), {300, 220}, {240, 250}, {310, 280}}) {
    loads.push_back(written_load(
        {{kWrittenPage, "Document", 0, 50, 100, ""},
         {"https://a.test/one", "Fetch", 110, 150, one, kWrittenPage},
         {"https://a.test/two", "Fetch", 111, 150, two, kWrittenPage},
         {"https://a.test/after", "Fetch", std::min(one, two) + 5, 390, 400, kWrittenPage}}));
  }
  auto const graph = learn_dependencies(loads);
  EXPECT_EQ(graph.join(3), DependencyJoin::kMixed);
  auto const [begin, end] = graph.edges_to(3);
  ASSERT_EQ(end - begin, 3);
  EXPECT_EQ(begin[1].alternative, 1);
  EXPECT_EQ(begin[2].alternative, 1);
  EXPECT_EQ(begin[1].slack_us, 0);
}

TEST(LearnDependencies, SeesNothingSteadyInTwoLoads) {
  std::vector<ObservedPage> loads;
  for (auto const& [one, two] : {std::pair(200, 260), {300, 220}}) {
    loads.push_back(written_load(
        {{kWrittenPage, "Document", 0, 50, 100, ""},
         {"https://a.test/one", "Fetch", 110, 150, one, kWrittenPage},
         {"https://a.test/two", "Fetch", 111, 150, two, kWrittenPage},
         {"https://a.test/after", "Fetch", std::min(one, two) + 5, 390, 400, kWrittenPage}}));
  }
  auto const graph = learn_dependencies(loads);
  EXPECT_EQ(graph.join(3), DependencyJoin::kSequence);
  EXPECT_EQ(graph.edges_to(3).first->evidence, (DependencyEvidence{.named = true}));
}

TEST(LearnDependencies, LetsAPreflightFollowWhatMadeItsRequest) {
  auto const load =
      written_load({{kWrittenPage, "Document", 0, 50, 100, ""},
                    {"https://a.test/b.js", "Script", 60, 80, 140, kWrittenPage},
                    {"https://b.test/data", "Fetch", 150, 260, 270, "https://a.test/b.js"},
                    {"https://b.test/check", "Preflight", 151, 200, 201, "https://b.test/data"}});
  std::vector<ObservedPage> const loads = {load, load};
  EXPECT_THAT(edges_of(learn_dependencies(loads)),
              testing::Contains(Joined{"b.js", "check", Kind::kInitiator, After::kEnd}));
}

TEST(LearnDependencies, LetsTheIconFollowTheLoadEvent) {
  std::vector<ObservedPage> loads;
  for (std::int64_t late : {0, 40, 3}) {
    loads.push_back(
        written_load({{kWrittenPage, "Document", 0, 50, 60, ""},
                      {"https://a.test/icon", "Other", 105 + late, 120, 130, ""},
                      {"https://a.test/beacon", "Ping", 106 + late, 120, 130, kWrittenPage}}));
    loads.back().milestones[static_cast<std::size_t>(Milestone::kLoadEvent)] = (100 + late) * 1000;
  }
  EXPECT_THAT(waited_for(learn_dependencies(loads), "icon"), testing::ElementsAre("load event"));
  EXPECT_THAT(waited_for(learn_dependencies(loads), "beacon"), testing::ElementsAre("page"));
  loads[1].milestones[static_cast<std::size_t>(Milestone::kLoadEvent)] = 200'000;
  EXPECT_THAT(waited_for(learn_dependencies(loads), "icon"), testing::ElementsAre("page"));
}

TEST(LearnDependencies, LetsARequestOfUnknownOriginFollowTheDocument) {
  auto const load = written_load({{kWrittenPage, "Document", 0, 50, 100, ""},
                                  {"https://a.test/lazy.png", "Image", 90, 100, 140, ""}});
  std::vector<ObservedPage> const loads = {load, load};
  auto const graph = learn_dependencies(loads);
  EXPECT_THAT(edges_of(graph),
              testing::ElementsAre(Joined{"page", "lazy.png", Kind::kParser, After::kFirstByte}));
  EXPECT_FALSE(graph.edges[0].evidence.named);
}

TEST(LearnDependencies, LetsARequestOfUnknownOriginFollowThePageAndNotARedirectToIt) {
  auto load = written_load({{"https://a.test/old", "Document", 0, 40, 40, "", "301"},
                            {kWrittenPage, "Document", 40, 90, 140, ""},
                            {"https://a.test/early", "Other", 60, 70, 80, ""},
                            {"https://a.test/lazy.png", "Image", 100, 110, 150, ""}});
  // The page's own URL, one that scripts changed it to, and the one that was asked for.
  for (std::string const& url :
       {kWrittenPage, std::string("https://a.test/changed"), std::string("https://a.test/old")}) {
    load.calls.page = url;
    std::vector<ObservedPage> const loads = {load, load};
    EXPECT_THAT(edges_of(learn_dependencies(loads)),
                testing::ElementsAre(Joined{"old", "page", Kind::kInitiator, After::kEnd},
                                     Joined{"old", "early", Kind::kInitiator, After::kEnd},
                                     Joined{"page", "lazy.png", Kind::kParser, After::kFirstByte}))
        << url;
  }
}

TEST(LearnDependencies, LetsARequestOfUnknownOriginFollowTheDocumentThatAScriptWentTo) {
  auto load = written_load({{"https://a.test/enter", "Document", 0, 10, 20, ""},
                            {"https://a.test/go.js", "Script", 21, 25, 30, "https://a.test/enter"},
                            {kWrittenPage, "Document", 40, 50, 100, "https://a.test/go.js"},
                            {"https://a.test/lazy.png", "Image", 80, 110, 150, ""}});
  load.calls.page = kWrittenPage;
  std::vector<ObservedPage> const loads = {load, load};
  EXPECT_THAT(waited_for(learn_dependencies(loads), "lazy.png"), testing::ElementsAre("page"));
}

TEST(LearnDependencies, FollowsRedirects) {
  auto const load = written_load({{"https://a.test/old", "Document", 0, 40, 40, "", "302"},
                                  {kWrittenPage, "Document", 40, 90, 100, ""}});
  std::vector<ObservedPage> const loads = {load, load};
  EXPECT_THAT(edges_of(learn_dependencies(loads)),
              testing::ElementsAre(Joined{"old", "page", Kind::kInitiator, After::kEnd}));
}

TEST(LearnDependencies, SeesWhoLeftTheConnection) {
  std::vector<ObservedPage> loads;
  for (std::int64_t late : {0, 30}) {
    loads.push_back(
        written_load({{kWrittenPage, "Document", 0, 50, 100, ""},
                      {"https://a.test/first", "Image", 60, 80, 140 + late, kWrittenPage},
                      {"https://a.test/second", "Image", 61, 160 + late, 170 + late, kWrittenPage,
                       "200", 140 + late}}));
  }
  EXPECT_THAT(edges_of(learn_dependencies(loads)),
              testing::Contains(Joined{"first", "second", Kind::kConnection, After::kEnd}));
}

TEST(LearnDependencies, LetsAPaintWaitForAScriptInTheBackgroundThatItFollows) {
  for (bool const follows : {true, false}) {
    std::vector<ObservedPage> loads;
    for (std::int64_t const late : {0, 60, 25}) {
      loads.push_back(
          written_load({{kWrittenPage, "Document", 0, 50, 100, ""},
                        {"https://a.test/head.js", "Script", 60, 80, 110, kWrittenPage},
                        {"https://a.test/async.js", "Script", 61, 90, 120 + late, kWrittenPage}}));
      set_priorities(loads.back(), "High");
      set_priorities(loads.back(), "Low", "async.js");
      loads.back().milestones[0] = (follows ? 140 + late : 200) * 1000;
    }
    auto const before = waited_for(learn_dependencies(loads), "first contentful paint");
    EXPECT_THAT(before, testing::Contains("head.js"));
    EXPECT_EQ(std::ranges::count(before, "async.js"), follows ? 1 : 0);
  }
}

TEST(LearnDependencies, LetsMilestonesWaitForWhatEndedBefore) {
  auto load = written_load({{kWrittenPage, "Document", 0, 50, 100, ""},
                            {"https://a.test/a.css", "Stylesheet", 55, 80, 95, kWrittenPage},
                            {"https://a.test/a.png", "Image", 60, 80, 160, kWrittenPage},
                            {"https://a.test/late.png", "Image", 62, 80, 300, kWrittenPage}});
  load.milestones = {120'000, 165'000, 200'000, 300'000};
  std::vector<ObservedPage> const loads = {load, load};
  auto const graph = learn_dependencies(loads);
  auto const before = [&](std::string_view milestone) {
    std::vector<std::string> names;
    for (Joined const& edge : edges_of(graph)) {
      if (edge.to == milestone) names.push_back(edge.from);
    }
    return names;
  };
  EXPECT_THAT(before("first contentful paint"), testing::UnorderedElementsAre("page", "a.css"));
  EXPECT_THAT(before("largest contentful paint"),
              testing::UnorderedElementsAre("page", "a.css", "a.png", "first contentful paint"));
  EXPECT_THAT(before("load event"), testing::UnorderedElementsAre("page", "a.css", "a.png"));
  EXPECT_THAT(before("last load"),
              testing::UnorderedElementsAre("page", "a.css", "a.png", "late.png"));
  auto const slow = std::ranges::find_if(graph.edges, [&](const DependencyEdge& edge) {
    return graph.nodes[edge.to].name == "load event" && graph.nodes[edge.from].type == "Stylesheet";
  });
  EXPECT_EQ(slow->slack_us, 65'000) << "until the image ends";
}

TEST(LearnDependencies, LetsNoCallbackHoldUpTheLoadEvent) {
  auto load = written_load({{kWrittenPage, "Document", 0, 50, 60, ""},
                            {"https://a.test/a.js", "Script", 61, 80, 90, kWrittenPage},
                            {"https://a.test/a.png", "Image", 62, 80, 160, kWrittenPage}});
  add_task(load, "https://a.test/a.js", 91, 95);
  add_task(load, "https://a.test/a.js", 161, 170, "tick");
  load.milestones = {std::nullopt, std::nullopt, 171'000, 172'000};
  auto const graph = learn_dependencies(std::vector{load, load, load});
  EXPECT_THAT(
      waited_for(graph, "load event"),
      testing::UnorderedElementsAre("page", "a.js", "script of https://a.test/a.js", "a.png"));
  EXPECT_THAT(waited_for(graph, "last load"),
              testing::UnorderedElementsAre("page", "a.js", "a.png"));
}

TEST(LearnDependencies, LetsTheLargestPaintWaitForTheImageThatTheBrowserNamed) {
  auto load = written_load({{kWrittenPage, "Document", 0, 50, 100, ""},
                            {"https://a.test/hero.png", "Image", 60, 80, 110, kWrittenPage},
                            {"https://a.test/icon.png", "Image", 60, 80, 160, kWrittenPage}});
  load.milestones = {120'000, 165'000, 200'000, 200'000};
  auto const waits_for = [&](std::optional<std::string> url) {
    load.largest_url = std::move(url);
    return waited_for(learn_dependencies(std::vector{load, load}), "largest contentful paint");
  };
  using testing::UnorderedElementsAre;
  for (auto const* const url : {"https://a.test/icon.png", "https://a.test/icon.png#part"}) {
    EXPECT_THAT(waits_for(url), UnorderedElementsAre("page", "first contentful paint", "icon.png"));
  }
  for (auto const* const url : {"", "data:image/png,"}) {
    EXPECT_THAT(waits_for(url), UnorderedElementsAre("page", "first contentful paint"))
        << "needs no request: " << url;
  }
  for (std::optional<std::string> const& url :
       {std::optional<std::string>(), {"https://a.test/not-requested.png"}}) {
    EXPECT_THAT(waits_for(url), UnorderedElementsAre("page", "first contentful paint", "hero.png"))
        << "unknown: one that it follows steadily";
  }
}

TEST(LearnDependencies, LetsTheLargestPaintWaitForWhatItsImageRedirectsTo) {
  auto load = written_load({{kWrittenPage, "Document", 0, 50, 100, ""},
                            {"https://a.test/hero", "Image", 60, 80, 110, kWrittenPage},
                            {"https://a.test/hero.png", "Image", 110, 130, 160, kWrittenPage}});
  for (Call& call : load.calls.calls) {
    if (call.name.ends_with("/hero")) call.set("status", "302");
  }
  load.milestones = {120'000, 165'000, 200'000, 200'000};
  load.largest_url = "https://a.test/hero";
  EXPECT_THAT(waited_for(learn_dependencies(std::vector{load, load}), "largest contentful paint"),
              testing::Contains("hero.png"));
}

TEST(ObservedPages, HaveTheMilestonesOfTheLoadsThatCount) {
  LoadResult result;
  PageLoad page{.url = kWrittenPage};
  page.requests.push_back({.url = kWrittenPage, .method = "GET", .end_ms = 10});
  page.first_contentful_paint_ms = 12.5;
  page.load_event_ms = 20;
  page.largest_contentful_paint_url = "https://a.test/hero.png";
  result.loads.push_back({.warm_up = true, .page = page});
  result.loads.push_back({.page = page});
  std::vector<CallLoss> losses;
  auto const pages = observed_pages(result, losses);
  ASSERT_EQ(pages.size(), 1);
  EXPECT_EQ(pages[0].load, 1);
  EXPECT_EQ(pages[0].calls.calls.size(), 1);
  EXPECT_EQ(pages[0].largest_url, "https://a.test/hero.png");
  EXPECT_THAT(pages[0].milestones,
              testing::ElementsAre(12'500, std::nullopt, 20'000, std::nullopt));
}

}  // namespace
}  // namespace reprise
