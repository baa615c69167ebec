// Changes of small loads, worked out by hand. Times are in ms.

#include "analysis/prediction/changed_load.h"

#include <gmock/gmock.h>

#include <cmath>

namespace reprise {
namespace {

constexpr std::size_t kLoad = static_cast<std::size_t>(Milestone::kLoadEvent);

/// A graph with a load in parts: nodes are added with what they wait for, the load event waits for
/// all.
class Page {
 public:
  struct After {
    std::uint32_t from;
    DependencyAfter after = DependencyAfter::kEnd;
    std::uint32_t alternative = 0;
    DependencyKind kind = DependencyKind::kInitiator;
  };

  explicit Page(double bytes_per_ms = 0) {
    parts.bytes_per_us = bytes_per_ms / 1000;
    parts.origins.resize(2);
  }

  /// Waits a round trip of 10 ms and a think time of `think_ms`, then takes `tail_ms`.
  std::uint32_t request(std::vector<After> after, double gap_ms, double think_ms,
                        double tail_ms = 0, double bytes = 0) {
    return node({.name = std::to_string(graph.nodes.size()), .method = "GET"},
                {.gap_us = gap_ms * 1000,
                 .busy_us = gap_ms * 1000,
                 .round_trip_us = 10'000,
                 .think_us = think_ms * 1000,
                 .bytes = bytes,
                 .tail_us = tail_ms * 1000},
                after);
  }
  std::uint32_t task(std::vector<After> after, double gap_ms, double length_ms) {
    return node({.kind = DependencyNodeKind::kTask, .name = "script", .url = "a"},
                {.gap_us = gap_ms * 1000,
                 .busy_us = gap_ms * 1000,
                 .task_us = length_ms * 1000,
                 .task_busy_us = length_ms * 1000},
                after);
  }
  void load_event(double gap_ms) {
    std::vector<After> all;
    for (std::uint32_t i = 0; i < graph.nodes.size(); ++i) {
      all.push_back({.from = i, .kind = DependencyKind::kMilestone});
    }
    node({.kind = DependencyNodeKind::kMilestone, .name = "load event"}, {.gap_us = gap_ms * 1000},
         all);
    changes.resize(graph.nodes.size());
  }

  double load_ms(double link_factor = 1) const {
    return *changed_load(graph, parts, changes, link_factor)[kLoad] / 1000;
  }
  /// Waits for what is there so far; an image is what it paints.
  std::uint32_t paint(Milestone milestone, double gap_ms) {
    std::vector<After> all;
    for (std::uint32_t i = 0; i < graph.nodes.size(); ++i) {
      all.push_back({.from = i, .kind = DependencyKind::kMilestone});
    }
    auto const name = std::string(kMilestoneNames[static_cast<std::size_t>(milestone)]);
    return node({.kind = DependencyNodeKind::kMilestone, .name = name}, {.gap_us = gap_ms * 1000},
                all);
  }
  double largest_paint_ms_with(std::uint32_t node, const NodeChange& change) const {
    auto all = changes;
    all[node] = change;
    auto const times = changed_load(graph, parts, all, 1);
    return *times[static_cast<std::size_t>(Milestone::kLargestContentfulPaint)] / 1000;
  }
  /// With that change of one node alone.
  double load_ms_with(std::uint32_t node, const NodeChange& change) const {
    auto all = changes;
    all[node] = change;
    return *changed_load(graph, parts, all, 1)[kLoad] / 1000;
  }
  double load_ms_with_all(const NodeChange& change) const {
    return *changed_load(graph, parts, std::vector(graph.nodes.size(), change), 1)[kLoad] / 1000;
  }

  DependencyGraph graph;
  LoadParts parts;
  std::vector<NodeChange> changes;

 private:
  std::uint32_t node(DependencyNode node, NodeParts times, const std::vector<After>& after) {
    auto const place = static_cast<std::uint32_t>(graph.nodes.size());
    graph.nodes.push_back(std::move(node));
    times.present = true;
    parts.nodes.push_back(times);
    for (After const& each : after) {
      graph.edges.push_back({.from = each.from,
                             .to = place,
                             .kind = each.kind,
                             .after = each.after,
                             .alternative = each.alternative,
                             .evidence = {.named = true}});
    }
    sort_edges(graph.edges);
    return place;
  }
};

TEST(ChangedLoad, AddsUpAPath) {
  Page page;
  auto const document = page.request({}, 0, 50, 20);          // 0 to 80
  auto const script = page.request({{document}}, 5, 30, 10);  // 85 to 135
  auto const task = page.task({{script}}, 2, 40);             // 137 to 177
  page.load_event(3);
  EXPECT_DOUBLE_EQ(page.load_ms(), 180);
  EXPECT_DOUBLE_EQ(page.load_ms_with(script, {.think_factor = 3}), 240);
  EXPECT_DOUBLE_EQ(page.load_ms_with(script, {.think_us = -10'000}), 170);
  EXPECT_DOUBLE_EQ(page.load_ms_with(script, {.think_us = -90'000}), 150) << "not below 0";
  EXPECT_DOUBLE_EQ(page.load_ms_with(document, {.rtt_us = 7'000}), 187);
  EXPECT_DOUBLE_EQ(page.load_ms_with(task, {.cpu_factor = 2}), 222) << "the gap before it, too";
  EXPECT_DOUBLE_EQ(page.load_ms_with(script, {.bytes_factor = 3}), 200)
      << "without the link's rate, the transfer takes as many times as long";
}

TEST(ChangedLoad, RunsAScriptAfterTheWorkThatItWaitedFor) {
  Page page;
  auto const document = page.request({}, 0, 40);          // to 50, laid out until 350
  auto const script = page.request({{document}}, 0, 20);  // to 80
  auto const task = page.task({{script}}, 270, 10);       // 350 to 360
  page.parts.work = {{.from = document, .length_us = 90'000}};
  page.parts.nodes[task].thread = ThreadWait{.from = document,
                                             .after = DependencyAfter::kEnd,
                                             .length_us = 300'000,
                                             .processor_us = 200'000,
                                             .gap_us = 5'000};
  page.parts.nodes[task].takes_turns = true;
  page.load_event(0);
  EXPECT_DOUBLE_EQ(page.load_ms(), 360);
  EXPECT_DOUBLE_EQ(page.load_ms_with(script, {.think_us = 100'000}), 360) << "it came in time";
  EXPECT_DOUBLE_EQ(page.load_ms_with(script, {.think_us = 400'000}), 495);
  EXPECT_DOUBLE_EQ(page.load_ms_with(document, {.think_us = 100'000}), 460);
  EXPECT_DOUBLE_EQ(page.load_ms_with(task, {.cpu_factor = 2}), 570);
}

TEST(ChangedLoad, LetsScriptsAndOtherWorkTakeTurns) {
  Page page;
  auto const document = page.request({}, 0, 40);        // to 50
  auto const first = page.task({{document}}, 10, 20);   // 60 to 80
  auto const second = page.task({{document}}, 35, 30);  // 85 to 115, then work from 120 to 220
  page.parts.work = {
      {.from = second, .gap_us = 5'000, .busy_us = 1'000, .length_us = 100'000, .processor_us = 8}};
  page.load_event(6);
  for (auto const node : {first, second, second + 1}) page.parts.nodes[node].takes_turns = true;
  EXPECT_DOUBLE_EQ(page.load_ms(), 220);
  EXPECT_DOUBLE_EQ(page.load_ms_with(first, {.cpu_factor = 3}), 275)
      << "its gap of 30 ms and 60 are over at 140, then comes the second to 170";
  EXPECT_NEAR(page.load_ms_with(second, {.cpu_factor = 2}), 286, .01)
      << "from 120 to 180, the work from 186";
  page.parts.nodes.back().gap_us = 4'000;
  EXPECT_DOUBLE_EQ(page.load_ms(), 119) << "it was ready before that work";
  page.parts.nodes.back() = {.present = true, .gap_us = 6'000};
  EXPECT_DOUBLE_EQ(page.load_ms(), 121) << "a paint, for example";
}

TEST(ChangedLoad, DoesNotLetTheParserWaitForAScriptThatIsLoadedOtherwise) {
  Page page;
  auto const document = page.request({}, 0, 40);          // to 50
  auto const script = page.request({{document}}, 0, 50);  // to 110
  auto const run = page.task({{script}}, 0, 10);          // to 120, parsed on until 150
  page.graph.nodes[script].name = page.graph.nodes[run].url;
  page.parts.work = {{.from = run, .length_us = 30'000}};
  page.load_event(32);
  for (auto const node : {run, run + 1}) page.parts.nodes[node].takes_turns = true;
  page.parts.nodes.back().thread = ThreadWait{.from = run, .length_us = 32'000, .gap_us = 2'000};
  EXPECT_DOUBLE_EQ(page.load_ms(), 152);
  EXPECT_DOUBLE_EQ(page.load_ms_with(script, {.loading = ScriptLoading::kDefer}), 122)
      << "it parses while the script is on its way";
  EXPECT_DOUBLE_EQ(page.load_ms_with(script, {.think_us = -50'000}), 102);
  NodeChange const early = {.think_us = -40'000, .loading = ScriptLoading::kAsync};
  EXPECT_DOUBLE_EQ(page.load_ms_with(script, early), 92) << "it comes at 70, while it parses";
  EXPECT_DOUBLE_EQ(page.load_ms_with(script, {.drop = true}), 82) << "it parses from 50 on";
  EXPECT_DOUBLE_EQ(page.load_ms_with(script, {.refused = true}), 92) << "or 60";
  NodeChange const deferred = {.loading = ScriptLoading::kDefer};
  page.graph.nodes[run].function = "tick";
  EXPECT_DOUBLE_EQ(page.load_ms_with(script, deferred), 152) << "no parser waits for a callback";
  page.graph.nodes[run].function.clear();
  page.parts.nodes[script].urgency = kUrgencyLow;
  EXPECT_DOUBLE_EQ(page.load_ms_with(script, deferred), 152) << "nor for what was async";
}

TEST(ChangedLoad, LetsWhatFollowsTheDocumentsEndFollowDeferredScripts) {
  Page page;
  auto const document = page.request({}, 0, 40);          // to 50
  auto const script = page.request({{document}}, 0, 50);  // to 110
  auto const run = page.task({{script}}, 0, 10);          // to 120
  page.graph.nodes[script].name = page.graph.nodes[run].url;
  // Parsed on until 150, then listeners until 170.
  page.parts.work = {{.from = run, .length_us = 30'000},
                     {.from = run, .gap_us = 30'000, .length_us = 20'000, .is_after_parser = true}};
  page.load_event(50);
  for (auto const node : {run, run + 1}) page.parts.nodes[node].takes_turns = true;
  page.parts.nodes.back().thread =
      ThreadWait{.from = run, .length_us = 50'000, .after_parser_us = 20'000};
  EXPECT_DOUBLE_EQ(page.load_ms(), 170);
  EXPECT_DOUBLE_EQ(page.load_ms_with(script, {.loading = ScriptLoading::kDefer}), 140)
      << "the listeners follow the script that ended at 120";
  EXPECT_DOUBLE_EQ(page.load_ms_with(script, {.loading = ScriptLoading::kAsync}), 120)
      << "or come from 80 on";
}

TEST(ChangedLoad, HearsOfADroppedScriptWhenTheThreadIsFree) {
  Page page;
  auto const document = page.request({}, 0, 40);          // to 50, laid out until 350
  auto const script = page.request({{document}}, 0, 20);  // to 80
  auto const run = page.task({{script}}, 270, 10);        // 350 to 360, parsed on until 390
  page.graph.nodes[script].name = page.graph.nodes[run].url;
  page.parts.work = {{.from = document, .length_us = 300'000}, {.from = run, .length_us = 30'000}};
  page.parts.nodes[run].takes_turns = true;
  page.parts.nodes[run].thread = ThreadWait{.from = document, .length_us = 300'000};
  page.load_event(30);
  page.parts.nodes.back() = {
      .present = true, .takes_turns = true, .thread = ThreadWait{.from = run, .length_us = 30'000}};
  EXPECT_DOUBLE_EQ(page.load_ms(), 390);
  EXPECT_DOUBLE_EQ(page.load_ms_with(script, {.drop = true}), 380) << "it does not run";
  page.graph.nodes[run].function = "listener";
  EXPECT_DOUBLE_EQ(page.load_ms_with(script, {.drop = true}), 350) << "nor what follows that";
  page.parts.work.back().is_of_earlier_task = true;
  EXPECT_DOUBLE_EQ(page.load_ms_with(script, {.drop = true}), 380)
      << "but the task that calls listeners";
}

TEST(ChangedLoad, PaintsWhatIsLaidOut) {
  Page page;
  auto const document = page.request({}, 0, 40);           // to 50, laid out until 350
  auto const script = page.request({{document}}, 0, 400);  // to 460
  auto const task = page.task({{script}}, 0, 10);          // to 470
  auto const paint = page.paint(Milestone::kLargestContentfulPaint, 20);
  page.changes.resize(page.graph.nodes.size());
  page.parts.nodes[paint].thread = ThreadWait{.from = document, .length_us = 305'000};
  EXPECT_DOUBLE_EQ(page.largest_paint_ms_with(task, {}), 490);
  EXPECT_DOUBLE_EQ(page.largest_paint_ms_with(script, {.think_us = -100'000}), 390);
  EXPECT_DOUBLE_EQ(page.largest_paint_ms_with(script, {.think_us = -300'000}), 355);
}

TEST(ChangedLoad, LetsTheParserWaitForAScriptBeforeTheOneThatIsLoadedOtherwise) {
  Page page;
  auto const document = page.request({}, 0, 40);               // to 50
  auto const first = page.request({{document}}, 0, 430);       // to 490
  auto const second = page.request({{document}}, 0, 40);       // to 100
  auto const first_run = page.task({{first}}, 0, 10);          // to 500
  auto const run = page.task({{first_run}, {second}}, 0, 20);  // to 520, parsed on until 620
  for (auto const& [task, script] : {std::pair(first_run, first), {run, second}}) {
    page.graph.nodes[task].url = page.graph.nodes[script].name;
  }
  page.parts.work = {{.from = run, .length_us = 100'000}};
  page.load_event(102);
  for (auto const node : {first_run, run, run + 1}) page.parts.nodes[node].takes_turns = true;
  page.parts.nodes.back().thread = ThreadWait{.from = run, .length_us = 102'000, .gap_us = 2'000};
  EXPECT_DOUBLE_EQ(page.load_ms(), 622);
  EXPECT_DOUBLE_EQ(page.load_ms_with(second, {.loading = ScriptLoading::kDefer}), 622)
      << "it parses from 500 to 600";
  page.parts.nodes[first].urgency = kUrgencyLow;
  EXPECT_DOUBLE_EQ(page.load_ms_with(second, {.loading = ScriptLoading::kDefer}), 522)
      << "the first one is async";
}

TEST(ChangedLoad, TakesTheLatestOfAllAndTheEarliestOfAlternatives) {
  Page page;
  auto const document = page.request({}, 0, 40);         // to 50
  auto const quick = page.request({{document}}, 0, 10);  // to 70
  auto const slow = page.request({{document}}, 0, 40);   // to 100
  page.request({{quick}, {slow}}, 5, 0);                 // 105 to 115
  auto const race = page.request(
      {{.from = quick, .alternative = 1}, {.from = slow, .alternative = 1}}, 5, 100);  // 75 to 185
  page.load_event(0);
  EXPECT_DOUBLE_EQ(page.load_ms(), 185);
  EXPECT_DOUBLE_EQ(page.load_ms_with(slow, {.think_us = 60'000}), 185) << "within its slack";
  EXPECT_DOUBLE_EQ(page.load_ms_with(slow, {.think_us = 90'000}), 205);
  EXPECT_DOUBLE_EQ(page.load_ms_with(quick, {.think_us = 20'000}), 205);
  EXPECT_DOUBLE_EQ(page.load_ms_with(quick, {.think_us = 25'000}), 210);
  EXPECT_DOUBLE_EQ(page.load_ms_with(quick, {.think_us = 60'000}), 215) << "the other is first";
  EXPECT_DOUBLE_EQ(page.load_ms_with(race, {.think_factor = 0}), 115);
}

TEST(ChangedLoad, StartsAfterTheMomentThatTheEdgeNames) {
  Page page;
  auto const document = page.request({}, 0, 40, 100);  // first byte at 50, end at 150
  page.request({{.from = document, .after = DependencyAfter::kFirstByte}}, 5, 200);  // 55 to 265
  auto const task = page.task({{document}}, 10, 30);                                 // 160 to 190
  page.request({{.from = task, .after = DependencyAfter::kStart}}, 20, 50);          // 180 to 240
  page.load_event(0);
  EXPECT_DOUBLE_EQ(page.load_ms(), 265);
  EXPECT_DOUBLE_EQ(page.load_ms_with(document, {.bytes_factor = 2}), 340);
  EXPECT_DOUBLE_EQ(page.load_ms_with(document, {.think_us = 30'000}), 295);
}

TEST(ChangedLoad, PaysTheRoundTripsOfANewConnectionOnce) {
  Page page;
  page.parts.origins[0] = {.dns_us = 10'000, .connect_us = 10'000, .tls_us = 10'000};
  auto const first = page.request({}, 0, 5);     // connected at 30, to 45
  auto const second = page.request({}, 20, 15);  // waits until 30, to 55
  page.load_event(0);
  EXPECT_DOUBLE_EQ(page.load_ms(), 55);
  EXPECT_DOUBLE_EQ(page.load_ms_with_all({.rtt_us = 10'000}), 85) << "two and one";
  EXPECT_DOUBLE_EQ(page.load_ms_with_all({.rtt_us = 10'000, .dns_us = 10'000}), 95);
  EXPECT_DOUBLE_EQ(page.load_ms_with(first, {.drop = true}), 75) << "the other one connects";
  EXPECT_DOUBLE_EQ(page.load_ms_with(second, {.drop = true}), 45);
  page.parts.nodes[second].own_setup = {.connect_us = 10'000, .tls_us = 10'000};
  EXPECT_DOUBLE_EQ(page.load_ms(), 65) << "20 + 20 + 25";
  EXPECT_DOUBLE_EQ(page.load_ms_with_all({.protocol = PredictedProtocol::kH2}), 65)
      << "what it is already changes nothing";
}

TEST(ChangedLoad, SharesNoConnectionThatARequestMadeForItself) {
  Page page;
  page.parts.origins[0] = {.connect_us = 10'000, .tls_us = 10'000};
  auto const font = page.request({}, 0, 5);  // without cookies
  page.parts.nodes[font].own_setup = page.parts.origins[0];
  page.request({}, 15, 15);  // connected at 35, to 60
  page.load_event(0);
  EXPECT_DOUBLE_EQ(page.load_ms(), 60);
  EXPECT_DOUBLE_EQ(page.load_ms_with_all({.protocol = PredictedProtocol::kH1}), 60);
}

TEST(ChangedLoad, ConnectsAndAsksBeforeItIsUsed) {
  Page page;
  page.parts.origins[0] = {.dns_us = 5'000, .connect_us = 10'000, .tls_us = 10'000};
  page.parts.origins[1] = page.parts.origins[0];
  // Connected at 25, sent then, first byte at 75, end at 125.
  auto const document = page.request({}, 0, 40, 50);
  auto const script = page.request(
      {{.from = document, .after = DependencyAfter::kFirstByte, .kind = DependencyKind::kParser}},
      0, 0, 15);                                          // 75 to 100
  auto const late = page.request({{script}}, 5, 40, 10);  // 105, connected at 130, to 190
  page.parts.nodes[late].origin = 1;
  page.load_event(0);
  EXPECT_DOUBLE_EQ(page.load_ms(), 190);
  EXPECT_DOUBLE_EQ(page.load_ms_with(late, {.preconnect = true}), 165) << "ready at 100";
  EXPECT_DOUBLE_EQ(page.load_ms_with(late, {.coalesce = true}), 165);
  EXPECT_DOUBLE_EQ(page.load_ms_with(late, {.preload = true}), 160) << "asked for at 75";
  EXPECT_DOUBLE_EQ(page.load_ms_with(late, {.early_hints = true}), 125)
      << "asked for at 35, there when it is used";
  EXPECT_DOUBLE_EQ(page.load_ms_with(late, {.think_us = 60'000, .early_hints = true}), 180);
  page.parts.nodes[document].taken_up_us = 10'000;
  EXPECT_DOUBLE_EQ(page.load_ms_with(late, {.preload = true}), 170) << "asked for at 85";
  EXPECT_DOUBLE_EQ(page.load_ms_with(late, {.preconnect = true}), 170) << "ready at 110";
  page.parts.nodes[document].taken_up_us = 0;
  page.parts.nodes[late].protocol = PredictedProtocol::kH1;
  EXPECT_DOUBLE_EQ(page.load_ms(), 190);
  EXPECT_DOUBLE_EQ(page.load_ms_with(late, {.preconnect = true}), 165);
  page.parts.nodes[document].protocol = PredictedProtocol::kH1;
  EXPECT_DOUBLE_EQ(page.load_ms_with(late, {.early_hints = true}), page.load_ms())
      << "over HTTP/2 only";
}

TEST(ChangedLoad, SharesTheLink) {
  Page page(10);                                     // bytes per ms
  auto const one = page.request({}, 0, 0, 0, 1000);  // first bytes at 10
  auto const two = page.request({}, 0, 0, 0, 500);
  page.load_event(0);
  // Both at half the rate until 110, then the first alone until 160.
  EXPECT_NEAR(page.load_ms(), 160, 1e-9);
  EXPECT_NEAR(page.load_ms_with(two, {.bytes_factor = 0}), 110, 1e-9);
  EXPECT_NEAR(page.load_ms_with(one, {.bytes_factor = .5}), 110, 1e-9);
  EXPECT_NEAR(page.load_ms_with(two, {.think_us = 100'000}), 160, 1e-9);
  EXPECT_NEAR(page.load_ms(.1), 1510, 1e-9);
}

TEST(ChangedLoad, SendsASmallResponseAfterTheLargeOneBeforeIt) {
  Page page(1000);                                        // bytes per ms
  auto const large = page.request({}, 0, 0, 0, 100'000);  // first byte at 10, to 110
  auto const small = page.request({{large, DependencyAfter::kSent}}, 0, 0, 0, 1'000);
  for (auto const node : {large, small}) {
    page.parts.nodes[node].urgency = kUrgencyLow;
    page.parts.nodes[node].incremental = false;
  }
  auto const task = page.task({{small}}, 0, 500);
  page.load_event(0);
  EXPECT_NEAR(page.load_ms(), 611, 1e-9);
  EXPECT_NEAR(page.load_ms_with(large, {.bytes_factor = .1}), 521, 1e-9);
  EXPECT_NEAR(page.load_ms_with(small, {.think_us = 200'000}), 711, 1e-9);
  EXPECT_NEAR(page.load_ms_with(large, {.at_hand = true}), 511, 1e-9) << "nothing is before it";
  EXPECT_NEAR(page.load_ms_with(small, {.urgency = kUrgencyHigh}), 525.6, 1e-9)
      << "it goes first, after a window that is on its way";
  EXPECT_NEAR(page.load_ms_with(small, {.protocol = PredictedProtocol::kH1}), 525.6, 1e-9)
      << "on a connection of its own";
  EXPECT_NEAR(page.load_ms_with(task, {.cpu_factor = 0}), 111, 1e-9);
}

TEST(ChangedLoad, DoesNotMakeADroppedRequestNorWhatItInitiates) {
  Page page;
  auto const document = page.request({}, 0, 40);          // to 50
  auto const third = page.request({{document}}, 0, 140);  // to 200
  auto const child = page.request({{third}}, 0, 90);      // to 300
  page.request({{document}, {.from = third, .kind = DependencyKind::kScriptOrder}}, 5,
               15);  // 205 to 230
  page.load_event(0);
  EXPECT_DOUBLE_EQ(page.load_ms(), 300);
  EXPECT_DOUBLE_EQ(page.load_ms_with(child, {.drop = true}), 230);
  EXPECT_DOUBLE_EQ(page.load_ms_with(third, {.drop = true}), 80)
      << "of the third party, only its place in the order is left";
  page.parts.origins[1].dns_us = 30'000;
  page.parts.nodes[third].origin = page.parts.nodes[child].origin = 1;
  EXPECT_DOUBLE_EQ(page.load_ms_with(third, {.drop = true}), 110) << "its name was looked up";
  EXPECT_DOUBLE_EQ(page.load_ms_with(third, {.refused = true}), 120) << "its server has answered";
  EXPECT_DOUBLE_EQ(page.load_ms_with(third, {.at_hand = true}), 180) << "its child is made";
}

TEST(ChangedLoad, SlowsDownWhatIsLargerThanAWindow) {
  Page page(1460);  // bytes per ms: ten segments in 10 ms
  page.parts.round_trip_us = 30'000;
  auto const one = page.request({}, 0, 0, 0, 14'600);  // first byte at 11, to 20
  page.load_event(0);
  EXPECT_NEAR(page.load_ms(), 20, 1e-9);
  // The second window is acknowledged from 41 on, the third one from 72 on.
  EXPECT_NEAR(page.load_ms_with(one, {.bytes_factor = 4}), 82, 1e-9);
  EXPECT_NEAR(page.load_ms_with(one, {.bytes_added = 14'600}), 51, 1e-9);
  page.parts.nodes[one].bytes = 58'400;
  EXPECT_NEAR(page.load_ms(), 82, 1e-9);
  EXPECT_NEAR(page.load_ms(.1), 410, 1e-9) << "a slower link does not idle";
  EXPECT_NEAR(page.load_ms_with(one, {.rtt_us = 10'000}), 112, 1e-9)
      << "three round trips, each longer";
}

TEST(ChangedLoad, SendsNoBodyOfWhatIsOnlyRevalidated) {
  for (double const bytes_per_ms : {0, 1460}) {
    Page page(bytes_per_ms);
    auto const one = page.request({}, 0, 0, 5, 1'460);
    page.load_event(0);
    NodeChange const larger = {.bytes_factor = 4, .bytes_added = 146'000};
    EXPECT_GT(page.load_ms_with(one, larger), page.load_ms() + 10);
    page.parts.nodes[one].is_revalidated = true;
    EXPECT_DOUBLE_EQ(page.load_ms_with(one, larger), page.load_ms());
  }
}

TEST(ChangedLoad, LetsAnswersWaitInTheQueueOfTheLink) {
  Page page(1460);                                       // a segment in 1 ms
  auto const image = page.request({}, 0, 0, 0, 14'600);  // from 10 to 20
  auto const late = page.request({}, 5, 0);              // looked up at 15
  page.parts.origins[1] = {.dns_us = 10'000, .connect_us = 10'000};
  page.parts.nodes[late].origin = 1;
  page.load_event(0);
  EXPECT_NEAR(page.load_ms_with(image, {.bytes_factor = 0}), 35, 1e-9) << "15, 25, 35";
  EXPECT_NEAR(page.load_ms(), 40, 1e-9) << "the look-up waits for the image until 20";
  EXPECT_NEAR(page.load_ms(.1), 130, 1e-9) << "until 110";
}

TEST(ChangedLoad, GivesARaceItsOtherWay) {
  Page page;
  auto const quick = page.request({}, 0, 10);  // to 20
  auto const slow = page.request({}, 0, 90);   // to 100
  page.request({{.from = quick, .alternative = 1, .kind = DependencyKind::kScriptOrder},
                {.from = slow, .alternative = 1, .kind = DependencyKind::kScriptOrder}},
               0, 90);
  page.load_event(0);
  EXPECT_DOUBLE_EQ(page.load_ms(), 120);
  EXPECT_DOUBLE_EQ(page.load_ms_with(quick, {.drop = true}), 200);
}

TEST(ChangedLoad, LetsTheLoadEventWaitForWhatIsUnderWay) {
  Page page;
  auto const document = page.request({}, 0, 40);         // to 50
  auto const slow = page.request({{document}}, 0, 190);  // to 250
  auto const timer = page.task({{document}}, 100, 10);   // 150 to 160
  auto const late = page.request({{timer}}, 0, 290);     // to 460
  page.graph.nodes[timer].function = "later";
  page.load_event(5);
  std::erase_if(page.graph.edges, [&](const DependencyEdge& edge) {
    return edge.from == timer && edge.to == late + 1;
  });
  EXPECT_DOUBLE_EQ(page.load_ms(), 465);
  EXPECT_DOUBLE_EQ(page.load_ms_with(slow, {.think_us = -150'000}), 105) << "before the timer";
  EXPECT_DOUBLE_EQ(page.load_ms_with(slow, {.think_us = -93'000}), 465)
      << "it asks while the event is on its way";
  EXPECT_DOUBLE_EQ(page.load_ms_with(late, {.think_us = -280'000}), 255);
  auto const faster = NodeChange{.think_us = -150'000};
  page.parts.nodes[late].start_us = 160'000;  // when nothing else was under way that is known
  EXPECT_DOUBLE_EQ(page.load_ms_with(slow, faster), 465);
  page.parts.nodes[slow].end_us = 250'000;
  EXPECT_DOUBLE_EQ(page.load_ms_with(slow, faster), 105);
  for (auto const node : {timer, late + 1}) page.parts.nodes[node].takes_turns = true;
  EXPECT_DOUBLE_EQ(page.load_ms_with(slow, {.think_us = -99'000}), 465)
      << "its turn comes at 160, when the timer has asked";
  page.parts.nodes[timer].gap_us = 40'000;
  EXPECT_DOUBLE_EQ(page.load_ms_with(slow, {.think_us = -190'000}), 405) << "a listener, perhaps";
}

TEST(ChangedLoad, LetsTheLoadEventComeBeforeWhatAnAnswerAsksFor) {
  Page page;
  auto const document = page.request({}, 0, 40);          // to 50
  auto const slow = page.request({{document}}, 0, 190);   // to 250
  auto const answer = page.request({{document}}, 0, 90);  // to 150
  auto const late = page.request({{answer}}, 0, 290);     // to 450
  page.graph.nodes[answer].type = "Fetch";
  page.load_event(5);
  std::erase_if(page.graph.edges, [&](const DependencyEdge& edge) {
    return edge.from == answer && edge.to == late + 1;
  });
  for (DependencyEdge& edge : page.graph.edges) {
    if (edge.from == answer) edge.evidence.named = false;  // it comes steadily after that
  }
  EXPECT_DOUBLE_EQ(page.load_ms(), 455);
  EXPECT_DOUBLE_EQ(page.load_ms_with(slow, {.think_us = -150'000}), 105);
  for (DependencyEdge& edge : page.graph.edges) {
    if (edge.to == answer) edge.kind = DependencyKind::kScriptOrder;
  }
  EXPECT_DOUBLE_EQ(page.load_ms_with(slow, {.think_us = -150'000}), 455)
      << "of a listener of DOMContentLoaded";
}

TEST(ChangedLoad, LooksUpAHostThatUsesTheConnectionOfAnother) {
  Page page;
  auto const document = page.request({}, 0, 40);         // connected at 20, to 70
  auto const image = page.request({{document}}, 0, 10);  // named at 85, to 105
  auto const other = page.request({{document}}, 5, 10);  // to 105
  page.parts.nodes[image].origin = page.parts.nodes[other].origin = 1;
  page.parts.origins[0] = {.connect_us = 10'000, .tls_us = 10'000};
  page.parts.origins[1] = {.dns_us = 15'000};
  page.parts.shares = {0, 0};
  page.load_event(0);
  EXPECT_DOUBLE_EQ(page.load_ms(), 105);
  EXPECT_DOUBLE_EQ(page.load_ms_with(image, {.dns_us = 30'000}), 135);
  EXPECT_DOUBLE_EQ(page.load_ms_with_all({.protocol = PredictedProtocol::kH1}), 125)
      << "over connections of its own";
  page.parts.shares.clear();
  EXPECT_DOUBLE_EQ(page.load_ms_with_all({.protocol = PredictedProtocol::kH1}), 105)
      << "nothing is known of what they take";
}

TEST(ChangedLoad, PaintsAfterPreloadedFontsForAWhile) {
  Page page;
  auto const document = page.request({}, 0, 40);  // to 50
  auto const sheet = page.request({{.from = document, .kind = DependencyKind::kParser}}, 0, 40);
  page.paint(Milestone::kFirstContentfulPaint, 5);    // 105
  auto const font = page.request({{sheet}}, 200, 0);  // 300 to 310
  page.graph.nodes[font].type = "Font";
  page.load_event(0);
  auto const first_paint_ms = [&](std::int64_t think_ms, bool preload) {
    auto changes = page.changes;
    changes[font] = {.think_us = think_ms * 1000, .preload = preload};
    auto const times = changed_load(page.graph, page.parts, changes, 1);
    return *times[static_cast<std::size_t>(Milestone::kFirstContentfulPaint)] / 1000;
  };
  EXPECT_DOUBLE_EQ(first_paint_ms(400, false), 105);
  EXPECT_DOUBLE_EQ(first_paint_ms(20, true), 105) << "it is there at 80";
  EXPECT_DOUBLE_EQ(first_paint_ms(100, true), 165);
  EXPECT_DOUBLE_EQ(first_paint_ms(400, true), 205) << "not longer than that";
  for (NodeParts& each : page.parts.nodes) each.protocol = PredictedProtocol::kH1;
  page.changes[font] = {.think_us = 400'000, .early_hints = true};
  EXPECT_DOUBLE_EQ(*changed_load(page.graph, page.parts, page.changes, 1)[0], 105'000)
      << "there are no hints over HTTP/1.1";
}

TEST(ChangedLoad, UsesAPreloadWhenItWasUsedBefore) {
  Page page;
  auto const document = page.request({}, 0, 40, 50);  // first byte at 50, end at 100
  auto const sheet = page.request(
      {{.from = document, .after = DependencyAfter::kFirstByte, .kind = DependencyKind::kParser}},
      5, 60);                                            // 55 to 125
  auto const font = page.request({{sheet}}, 5, 90, 20);  // 130 to 250
  page.task({{font}}, 10, 30);                           // 260 to 290
  page.load_event(0);
  EXPECT_DOUBLE_EQ(page.load_ms(), 290);
  // From 50 on: it ends at 170, after it was asked for at 130.
  EXPECT_DOUBLE_EQ(page.load_ms_with(font, {.preload = true}), 210);
  // It ends at 90, and waits for the style sheet until 130.
  EXPECT_DOUBLE_EQ(page.load_ms_with(font, {.think_us = -80'000, .preload = true}), 170);
  EXPECT_DOUBLE_EQ(page.load_ms_with(document, {.preload = true}), 290);
  EXPECT_DOUBLE_EQ(page.load_ms_with(sheet, {.preload = true}), 285);
  // Nothing is made, and the task has nothing to run.
  EXPECT_DOUBLE_EQ(page.load_ms_with(font, {.drop = true, .preload = true}), 130);
}

TEST(ChangedLoad, PassesAtOnceWhatDoesNotOccur) {
  Page page;
  auto const document = page.request({}, 0, 40);          // to 50
  auto const script = page.request({{document}}, 0, 20);  // to 80
  auto const late = page.task({{script}}, 900, 10);       // a timer, 980 to 990
  page.request({{late}}, 5, 100);                         // 995 to 1105
  page.load_event(7);
  EXPECT_DOUBLE_EQ(page.load_ms(), 1112);
  EXPECT_DOUBLE_EQ(page.load_ms_with(script, {.drop = true}), 57);
  page.parts.nodes[late].takes_turns = true;
  page.parts.work = {{.from = document, .length_us = 300'000}};
  EXPECT_DOUBLE_EQ(page.load_ms_with(script, {.drop = true}), 57) << "it waits for no thread";
  page.parts.nodes[late].thread = ThreadWait{.from = script, .length_us = 700'000};
  EXPECT_DOUBLE_EQ(page.load_ms_with(script, {.drop = true}), 57);
  page.parts.work.push_back({.from = late, .length_us = 500'000});
  page.parts.nodes.back() = {
      .present = true,
      .gap_us = 700'000,
      .takes_turns = true,
      .thread = ThreadWait{.from = late, .length_us = 700'000, .gap_us = 7'000}};
  page.parts.work.front().length_us = 0;
  EXPECT_DOUBLE_EQ(page.load_ms_with(script, {.drop = true}), 57) << "nor does work follow it";
}

TEST(ChangedLoad, OpensSixConnectionsOfHttp1) {
  Page page;
  page.parts.origins[0] = {.dns_us = 10'000, .connect_us = 10'000, .tls_us = 10'000};
  for (int i = 0; i < 8; ++i) page.request({}, i, 20);
  page.load_event(0);
  // HTTP/2: connected at 30; the last one is sent then, and done at 60.
  EXPECT_DOUBLE_EQ(page.load_ms(), 60);
  // HTTP/1.1: the name is known at 10, six connect until 30; these requests end at 60, and the
  // seventh and the eighth are sent then.
  EXPECT_DOUBLE_EQ(page.load_ms_with_all({.protocol = PredictedProtocol::kH1}), 90);
  for (NodeParts& node : page.parts.nodes) node.protocol = PredictedProtocol::kH1;
  EXPECT_DOUBLE_EQ(page.load_ms(), 90);
  EXPECT_DOUBLE_EQ(page.load_ms_with_all({.protocol = PredictedProtocol::kH2}), 60);
}

TEST(ChangedLoad, TakesTheFirstConnectionOfHttp1ThatIsFree) {
  Page page;
  page.parts.origins[0] = {.connect_us = 10'000, .tls_us = 10'000};
  auto const document = page.request({}, 0, 0);  // connected at 20, to 30
  page.request({{document}}, 0, 0);              // to 40 by the same one
  page.request({{document}}, 0, 0);              // and to 50, when another one is just connected
  page.load_event(0);
  EXPECT_DOUBLE_EQ(page.load_ms(), 40);
  EXPECT_DOUBLE_EQ(page.load_ms_with_all({.protocol = PredictedProtocol::kH1}), 50);
  page.parts.connects_ahead = true;
  EXPECT_DOUBLE_EQ(page.load_ms_with_all({.protocol = PredictedProtocol::kH1}), 40);
  EXPECT_DOUBLE_EQ(page.load_ms(), 40) << "HTTP/2 needs one";
}

TEST(ChangedLoad, ConnectsOnceMoreOverHttp1IfTheFirstTcpConnectionTakesLong) {
  for (bool const is_slow : {true, false}) {
    Page page;
    page.parts.origins[0] = {.connect_us = is_slow ? 260'000. : 130'000.,
                             .tls_us = is_slow ? 0. : 130'000.};
    auto const document = page.request({}, 0, 0);  // connected at 260, to 270
    page.request({{document}}, 250, 200);          // until 730 by the same one
    page.request({{document}}, 250, 200);          // by another one
    page.load_event(0);
    for (NodeParts& node : page.parts.nodes) node.protocol = PredictedProtocol::kH1;
    EXPECT_DOUBLE_EQ(page.load_ms(), is_slow ? 730 : 940) << "which is made from 250 on, or not";
    page.parts.origins[0].dns_us = 255'000;
    EXPECT_DOUBLE_EQ(page.load_ms(), is_slow ? 985 : 1195) << "or from 500 on";
  }
}

TEST(ChangedLoad, ConnectsOnceMoreOverHttp1ForTheFirstConnectionAlone) {
  Page page;
  page.parts.origins[0] = {.connect_us = 50'000, .tls_us = 50'000};
  auto const document = page.request({}, 0, 90);  // connected at 100, to 200
  page.request({{document}}, 0, 200);             // to 410
  page.request({{document}}, 0, 200);             // connected at 300, to 510
  page.request({{document}}, 160, 200);           // from 410 on, by the first one
  page.load_event(0);
  for (NodeParts& node : page.parts.nodes) node.protocol = PredictedProtocol::kH1;
  EXPECT_DOUBLE_EQ(page.load_ms(), 620);
}

TEST(ChangedLoad, TakesTheMostUrgentRequestOfHttp1First) {
  Page page;
  page.request({}, 0, 20);                               // to 30
  for (int i = 0; i < 5; ++i) page.request({}, 0, 190);  // to 200
  auto const picture = page.request({}, 1, 20);          // waits until 90, to 120
  auto const sheet = page.request({}, 2, 50);            // from 30 to 90
  page.task({{sheet}}, 0, 300);                          // to 390
  for (NodeParts& node : page.parts.nodes) node.protocol = PredictedProtocol::kH1;
  page.load_event(0);
  EXPECT_DOUBLE_EQ(page.load_ms(), 420) << "nothing is known of their urgency";
  page.parts.nodes[picture].urgency = 5;
  page.parts.nodes[sheet].urgency = 1;
  EXPECT_DOUBLE_EQ(page.load_ms(), 390);
  EXPECT_DOUBLE_EQ(page.load_ms_with(sheet, {.urgency = 7}), 420);
}

TEST(ChangedLoad, DeliversBytesInTheOrderOfSending) {
  Page page(1460);  // a segment in 1 ms
  page.parts.round_trip_us = 10'000;
  auto const document = page.request({}, 0, 0);                      // to 10
  auto const large = page.request({{document}}, 0, 0, 2, 2 * 1460);  // out at 22, there at 52
  auto const small = page.request({{document}}, 0, 0, 4, 1460);      // out at 23, and there too
  page.parts.nodes[large].stall_us = 30'000;
  page.parts.nodes[small].incremental = page.parts.nodes[large].incremental = false;
  page.load_event(0);
  EXPECT_DOUBLE_EQ(page.load_ms(), 56);
  EXPECT_DOUBLE_EQ(page.load_ms_with_all({.protocol = PredictedProtocol::kH1}), 27)
      << "over others nothing is known to be late";
  EXPECT_DOUBLE_EQ(page.load_ms_with(large, {.at_hand = true}), 25);
}

TEST(ChangedLoad, DoesNotWaitWithSendingOverAnotherProtocol) {
  Page page;
  auto const document = page.request({}, 0, 0);  // to 10
  page.request({{document}}, 0, 20);             // sent from 10 to 25, to 55
  page.parts.nodes[1].send_us = 15'000;
  page.load_event(0);
  EXPECT_DOUBLE_EQ(page.load_ms(), 55);
  EXPECT_DOUBLE_EQ(page.load_ms_with(1, {.rtt_us = -20'000}), 45) << "the round trip is over";
  EXPECT_DOUBLE_EQ(page.load_ms_with_all({.protocol = PredictedProtocol::kH1}), 40);
  for (NodeParts& node : page.parts.nodes) node.protocol = PredictedProtocol::kH1;
  EXPECT_DOUBLE_EQ(page.load_ms(), 55) << "it took as long over HTTP/1.1";
}

TEST(ChangedLoad, LeavesNoConnectionThatADroppedRequestNeverHad) {
  Page page;
  page.parts.origins[0] = {.connect_us = 10'000};
  auto const gone = page.request({}, 0, 0);
  page.request({{gone}}, 0, 0);
  page.load_event(0);
  for (NodeParts& node : page.parts.nodes) node.protocol = PredictedProtocol::kH1;
  EXPECT_DOUBLE_EQ(page.load_ms_with(gone, {.drop = true, .refused = true}),
                   page.load_ms_with(gone, {.drop = true}));
}

TEST(ChangedLoad, QueuesARequestBeforeItsConnectionIsMade) {
  Page page;
  page.parts.origins[0] = {.connect_us = 10'000, .tls_us = 10'000};
  page.request({}, 0, 0);                    // connected at 20, to 30
  auto const low = page.request({}, 0, 50);  // sent at 55, to 115
  page.parts.nodes[low].queue_us = 35'000;
  page.load_event(0);
  EXPECT_DOUBLE_EQ(page.load_ms(), 115);
  EXPECT_DOUBLE_EQ(page.load_ms_with_all({.protocol = PredictedProtocol::kH1}), 95)
      << "the first connection is idle by then";
  page.parts.nodes[0].think_us = 50'000;
  EXPECT_DOUBLE_EQ(page.load_ms_with_all({.protocol = PredictedProtocol::kH1}), 115);
}

TEST(ChangedLoad, MakesAConnectionForTheFirstThatAsksForIt) {
  Page page;
  page.parts.origins[0] = {.connect_us = 10'000, .tls_us = 10'000};
  auto const held = page.request({}, 0, 0);  // asks at 30
  auto const next = page.request({}, 5, 0);  // asks at 25: connected at 45, to 55
  page.load_event(0);
  page.parts.nodes[held].hold_us = 30'000;
  page.parts.nodes[next].hold_us = 20'000;
  EXPECT_DOUBLE_EQ(page.load_ms(), 55);
  EXPECT_DOUBLE_EQ(page.load_ms_with(next, {.at_hand = true}), 60);
}

TEST(ChangedLoad, HoldsRequestsBackUntilTheScriptsOfTheHeadHaveCome) {
  Page page;
  auto const document = page.request({}, 0, 0);               // to 10
  auto const slow = page.request({{document}}, 0, 80);        // to 100
  auto const fast = page.request({{document}}, 0, 40);        // to 60
  auto const picture = page.request({{document}}, 0, 50);     // made at 60, to 120
  auto const background = page.request({{document}}, 0, 35);  // made at 100, to 145
  for (auto const script : {slow, fast}) page.parts.nodes[script].is_of_head = true;
  for (auto const low : {picture, background}) page.parts.nodes[low].is_held_back = true;
  page.load_event(0);
  EXPECT_DOUBLE_EQ(page.load_ms(), 145);
  EXPECT_DOUBLE_EQ(page.load_ms_with(slow, {.think_us = 20'000}), 165)
      << "the picture is over at the same time";
  EXPECT_DOUBLE_EQ(page.load_ms_with(slow, {.loading = ScriptLoading::kAsync}), 120)
      << "both are made at 60";
  EXPECT_DOUBLE_EQ(page.load_ms_with(fast, {.at_hand = true}), 115)
      << "the picture is made at 10, the background when it is over";
  EXPECT_DOUBLE_EQ(page.load_ms_with(slow, {.drop = true}), 105)
      << "it fails at once: the picture is made at 10, the background at 60";
}

TEST(ChangedLoad, HasTenRequestsOfLowPriorityUnderWayOverHttp1) {
  Page page;
  page.parts.origins.resize(12);
  for (std::size_t origin = 0; origin < 12; ++origin) {
    auto const image = page.request({}, 0, 40);  // to 50
    page.parts.nodes[image].origin = origin;
    page.parts.nodes[image].urgency = kUrgencyLow;
  }
  page.load_event(0);
  EXPECT_DOUBLE_EQ(page.load_ms(), 50);
  EXPECT_DOUBLE_EQ(page.load_ms_with_all({.protocol = PredictedProtocol::kH1}), 100)
      << "two wait until others end";
  EXPECT_DOUBLE_EQ(page.load_ms_with_all({.drop = true, .protocol = PredictedProtocol::kH1}), 0);
  NodeChange const urgent{.urgency = kUrgencyHigh, .protocol = PredictedProtocol::kH1};
  EXPECT_DOUBLE_EQ(page.load_ms_with_all(urgent), 50);
}

TEST(ChangedLoad, LooksUpANameThatDoesNotExistBehindWhatIsInTheLink) {
  Page page(1);  // a byte in 1 ms
  page.parts.round_trip_us = 10'000;
  page.parts.origins[0] = {.dns_us = 0, .connect_us = 20'000, .tls_us = 0};
  auto const document = page.request({}, 0, 0);                 // connected at 20, to 30
  auto const image = page.request({{document}}, 0, 0, 0, 100);  // from 40 to 140
  auto const missing = page.request({{document}}, 5, 0);        // looks up from 35
  page.parts.nodes[missing].is_local = true;
  page.parts.nodes[missing].own_setup.dns_us = 10'000;
  page.parts.nodes[missing].second_look_up_us = 10'000;
  page.load_event(1);
  EXPECT_DOUBLE_EQ(page.load_ms(), 151) << "the first answer comes behind the image, at 140";
  EXPECT_DOUBLE_EQ(page.load_ms_with(image, {.bytes_factor = .5}), 101);
  EXPECT_DOUBLE_EQ(page.load_ms_with(missing, {.dns_us = 7'000}), 158) << "again behind the image";
  EXPECT_DOUBLE_EQ(page.load_ms_with(missing, {.dns_us = 100'000}), 256) << "both take longer";
  page.parts.nodes[missing].second_look_up_us = 0;
  EXPECT_DOUBLE_EQ(page.load_ms_with(missing, {.dns_us = 100'000}), 146);
}

TEST(ChangedLoad, PaintsAnotherElementIfTheLargestIsDropped) {
  Page page;
  page.parts.round_trip_us = 10'000;
  auto const document = page.request({}, 0, 40);  // to 50
  page.paint(Milestone::kFirstContentfulPaint, 10);
  auto const image = page.request({{document}}, 5, 100);  // to 165
  page.graph.nodes[image].type = "Image";
  auto const script = page.request({{document}}, 5, 30);  // to 95
  page.paint(Milestone::kLargestContentfulPaint, 3);
  page.load_event(1);
  EXPECT_DOUBLE_EQ(page.largest_paint_ms_with(image, {}), 168);
  EXPECT_DOUBLE_EQ(page.largest_paint_ms_with(image, {.think_us = 20'000}), 188);
  EXPECT_DOUBLE_EQ(page.largest_paint_ms_with(script, {.drop = true}), 168);
  EXPECT_DOUBLE_EQ(page.largest_paint_ms_with(image, {.drop = true}), 63);
}

TEST(ChangedLoad, LeavesAloneWhatComesFromTheCache) {
  Page page(1);  // a byte in 1 ms
  page.parts.round_trip_us = 10'000;
  page.parts.origins[0] = {.dns_us = 0, .connect_us = 20'000, .tls_us = 0};
  auto const document = page.request({}, 0, 0);  // connected at 20, to 30
  auto const cached = page.request({{document}}, 5, 3, 4);
  page.parts.nodes[cached].round_trip_us = 0;
  page.parts.nodes[cached].is_local = true;
  page.load_event(1);
  EXPECT_DOUBLE_EQ(page.load_ms(), 43);
  EXPECT_DOUBLE_EQ(page.load_ms_with(cached, {.think_factor = 5, .think_us = 50'000}), 43);
  EXPECT_DOUBLE_EQ(page.load_ms_with(cached, {.rtt_us = 50'000, .bytes_added = 1'000}), 43);
  EXPECT_DOUBLE_EQ(page.load_ms_with(cached, {.protocol = PredictedProtocol::kH1}), 43);
  EXPECT_DOUBLE_EQ(page.load_ms_with(document, {.think_us = 7'000}), 50);
  EXPECT_DOUBLE_EQ(page.load_ms_with(cached, {.refused = true}), 36) << "it fails at once";
  EXPECT_DOUBLE_EQ(page.load_ms_with(cached, {.cached = true}), 43) << "it is already";
  EXPECT_DOUBLE_EQ(page.load_ms_with(document, {.cached = true}), 13);
  EXPECT_DOUBLE_EQ(page.load_ms_with(cached, {.at_hand = true}), 36) << "in the document";
}

TEST(ChangedLoad, IgnoresNodesThatTheLoadDoesNotHave) {
  Page page;
  auto const document = page.request({}, 0, 40);  // to 50
  auto const absent = page.request({{document}}, 0, 500);
  page.request({{document}, {absent}}, 0, 40);  // to 100
  page.load_event(0);
  page.parts.nodes[absent].present = false;
  EXPECT_DOUBLE_EQ(page.load_ms(), 100);
  EXPECT_EQ(changed_load(page.graph, page.parts, page.changes, 1)[0], std::nullopt);
}

}  // namespace
}  // namespace reprise
