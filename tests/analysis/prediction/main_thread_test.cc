#include "analysis/prediction/main_thread.h"

#include <gmock/gmock.h>

#include "analysis/prediction/thread_work.h"

namespace reprise {
namespace {

using testing::Optional;

Call task(int start_ms, int end_ms, const char* processor_us = "") {
  Call call{.kind = CallKind::kTask,
            .name = "task",
            .start_us = start_ms * 1000,
            .end_us = end_ms * 1000};
  if (*processor_us != '\0') call.set("processor_us", processor_us);
  return call;
}

MainThread thread_of(std::vector<Call> tasks) {
  CallTree tree;
  tree.calls = std::move(tasks);
  return MainThread(tree);
}

/// In the first task.
Call named(std::string name, int start_ms, int end_ms) {
  auto call = task(start_ms, end_ms);
  call.name = std::move(name);
  call.parent = 0;
  return call;
}

TEST(MainThread, WorkedAllTheTimeIfNothingIsKnown) {
  auto const thread = thread_of({});
  EXPECT_FALSE(thread.is_known());
  EXPECT_EQ(thread.work_between(100, 300).busy_us, 200);
  EXPECT_EQ(thread.work_between(300, 100).processor_us, 0);
}

TEST(MainThread, HadAProcessorForAPartOfItsWork) {
  auto inner = task(20, 40);
  inner.parent = 0;
  auto const thread = thread_of({task(0, 100, "50000"), inner, task(200, 220)});
  auto const part = thread.work_between(50'000, 210'000);
  EXPECT_EQ(part.busy_us, 60'000);
  EXPECT_EQ(part.processor_us, 35'000);
  EXPECT_EQ(processor_us(task(0, 10, "99000")), 10'000) << "no more than it took";
}

TEST(MainThread, IsBusySinceItsLastPause) {
  auto const thread = thread_of({task(0, 50), task(100, 150), task(152, 300), task(400, 410)});
  EXPECT_THAT(thread.busy_since(200'000, 290'000), Optional(100'000));
  EXPECT_THAT(thread.busy_since(120'000, 305'000), Optional(100'000));
  EXPECT_EQ(thread.busy_since(120'000, 350'000), std::nullopt);
  EXPECT_EQ(thread.busy_since(350'000, 360'000), std::nullopt);
  EXPECT_EQ(thread_of({}).busy_since(0, 10), std::nullopt);
}

constexpr std::uint32_t kPage = 0, kItsScript = 1, kItsRun = 2;

/// A document until 100 ms, which is laid out from 101 to 400, a script that came after 200 ms, and
/// its run from 402 on, for 8.
struct LaidOutPage {
  DependencyGraph graph;
  PlacedLoad placed;
  LoadParts parts;

  LaidOutPage() {
    graph.nodes = {{.name = "https://a.test/", .type = "Document"},
                   {.name = "https://a.test/a.js", .type = "Script"},
                   {.kind = DependencyNodeKind::kTask, .name = "script"}};
    graph.edges = {{.from = kPage, .to = kItsScript, .kind = DependencyKind::kParser},
                   {.from = kItsScript, .to = kItsRun}};
    placed = {NodeTimes{.first_byte_us = 90'000, .end_us = 100'000},
              NodeTimes{.start_us = 95'000, .first_byte_us = 190'000, .end_us = 200'000},
              NodeTimes{.start_us = 402'000, .end_us = 410'000}};
  }
  void find(std::vector<Call> tasks) {
    parts = {};
    parts.nodes.resize(graph.nodes.size());
    find_thread_work(graph, placed, thread_of(std::move(tasks)), parts);
  }
  const std::optional<ThreadWait>& wait() const { return parts.nodes[kItsRun].thread; }
};

TEST(ThreadWork, IsWaitedFor) {
  LaidOutPage page;
  page.find({task(101, 400, "200000"), task(401, 410)});
  EXPECT_TRUE(page.parts.nodes[kItsRun].takes_turns);
  EXPECT_FALSE(page.parts.nodes[kItsScript].takes_turns) << "a request needs no thread";
  ASSERT_TRUE(page.wait());
  EXPECT_EQ(page.wait()->from, kPage);
  EXPECT_EQ(page.wait()->after, DependencyAfter::kEnd);
  EXPECT_EQ(page.wait()->length_us, 302'000);
  EXPECT_NEAR(page.wait()->processor_us, 201'000, 1);
  EXPECT_NEAR(page.wait()->gap_us, 1'000, 1);
}

TEST(ThreadWork, IsNotWaitedForIfTheResponseCanHaveCausedIt) {
  LaidOutPage page;
  for (auto const& tasks : {std::vector{task(201, 400), task(401, 410)},
                            {task(101, 250), task(390, 410)},  // the thread paused
                            {task(0, 400)}}) {                 // nothing is known to have begun it
    page.find(tasks);
    EXPECT_FALSE(page.wait());
  }
}

TEST(ThreadWork, IsWaitedForBehindTheRunOfAScript) {
  LaidOutPage page;
  page.graph.nodes.push_back({.kind = DependencyNodeKind::kMilestone, .name = "load event"});
  page.graph.edges.push_back({.from = kItsRun, .to = 3, .kind = DependencyKind::kMilestone});
  page.placed.push_back(NodeTimes{.start_us = 432'000, .end_us = 432'000});
  page.find({task(401, 410), task(411, 430, "10000")});
  auto const& wait = page.parts.nodes.back().thread;
  ASSERT_TRUE(wait);
  EXPECT_EQ(wait->from, kItsRun);
  EXPECT_EQ(wait->length_us, 22'000);
  EXPECT_NEAR(wait->processor_us, 10'000, 1);
  EXPECT_NEAR(wait->gap_us, 3'000, 1);
}

TEST(ThreadWork, IsOfATaskThatBeganBeforeTheRun) {
  LaidOutPage page;
  auto const stays = [&](int task_ms) {
    page.find({task(task_ms, 430), named("parse", 395, 401)});
    auto const& last = page.parts.work.back();
    EXPECT_EQ(last.from, kItsRun);
    EXPECT_TRUE(last.is_after_parser);
    return last.is_of_earlier_task;
  };
  EXPECT_TRUE(stays(390)) << "the parser's, which runs a listener";
  EXPECT_FALSE(stays(402));
  page.find({task(390, 430), named("parse", 395, 420)});
  EXPECT_FALSE(page.parts.work.back().is_after_parser);
}

TEST(ThreadWork, OfAPaintIsTheLayoutBeforeIt) {
  LaidOutPage page;
  page.graph.nodes.push_back(
      {.kind = DependencyNodeKind::kMilestone, .name = "first contentful paint"});
  page.graph.edges.push_back({.from = kItsRun, .to = 3, .kind = DependencyKind::kMilestone});
  page.placed.push_back(NodeTimes{.start_us = 432'000, .end_us = 432'000});
  auto const& layout = [&]() -> const std::optional<ThreadWait>& {
    return page.parts.nodes.back().thread;
  };
  page.find({task(101, 400), named("layout", 150, 390), task(401, 425)});
  ASSERT_TRUE(layout());
  EXPECT_FALSE(page.parts.nodes.back().takes_turns);
  EXPECT_EQ(layout()->from, kPage);
  EXPECT_EQ(layout()->length_us, 307'000) << "to 400, and 7 that the thread paused before it";
  page.find({task(101, 400), task(401, 425)});
  EXPECT_FALSE(layout()) << "nothing is laid out";
  page.find({task(401, 425), named("layout", 403, 408)});
  EXPECT_FALSE(layout()) << "by the script that it waits for";
}

TEST(ThreadWork, IsAllThatTheThreadDidBesideTheNodes) {
  LaidOutPage page;
  page.find({task(0, 20), task(93, 99), task(101, 400, "200000"), task(401, 430), task(500, 501)});
  auto const& work = page.parts.work;
  ASSERT_EQ(work.size(), 5) << "not what came before the document";
  EXPECT_EQ(work[0].from, kPage);
  EXPECT_EQ(work[0].after, DependencyAfter::kFirstByte);
  EXPECT_EQ(work[0].gap_us, 3'000);
  EXPECT_EQ(work[0].length_us, 6'000);
  EXPECT_EQ(work[1].after, DependencyAfter::kEnd);
  EXPECT_EQ(work[1].length_us, 299'000);
  EXPECT_NEAR(work[1].processor_us, 200'000, 1);
  EXPECT_EQ(work[2].gap_us, 301'000) << "until the script runs";
  EXPECT_NEAR(work[2].busy_us, 200'000, 1);
  EXPECT_EQ(work[2].length_us, 1'000);
  EXPECT_EQ(work[3].from, kItsRun);
  EXPECT_EQ(work[3].gap_us, 0);
  EXPECT_EQ(work[3].length_us, 20'000);
  EXPECT_EQ(work[4].gap_us, 90'000);
  EXPECT_EQ(work[4].busy_us, 20'000);
  page.find({});
  EXPECT_TRUE(page.parts.work.empty());
  EXPECT_FALSE(page.parts.nodes[kItsRun].takes_turns);
}

}  // namespace
}  // namespace reprise
