#include "analysis/prediction/main_thread.h"

#include <gmock/gmock.h>

#include "analysis/prediction/thread_waits.h"

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
/// its run from 402 on.
struct LaidOutPage {
  DependencyGraph graph;
  PlacedLoad placed;
  std::vector<NodeParts> nodes = std::vector<NodeParts>(3);

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
  const std::optional<ThreadWait>& wait_with(std::vector<Call> tasks) {
    find_thread_waits(graph, placed, thread_of(std::move(tasks)), nodes);
    return nodes[kItsRun].thread;
  }
};

TEST(ThreadWaits, FollowWhatTheThreadWorkedFor) {
  LaidOutPage page;
  auto const& wait = page.wait_with({task(101, 400, "200000"), task(401, 410)});
  ASSERT_TRUE(wait);
  EXPECT_EQ(wait->from, kPage);
  EXPECT_EQ(wait->after, DependencyAfter::kEnd);
  EXPECT_EQ(wait->length_us, 302'000);
  EXPECT_NEAR(wait->processor_us, 201'000, 1);
  EXPECT_NEAR(wait->gap_us, 1'000, 1);
  EXPECT_FALSE(page.nodes[kItsScript].thread) << "a request needs no thread";
}

TEST(ThreadWaits, AreNoneIfTheResponseCanHaveCausedTheWork) {
  LaidOutPage page;
  EXPECT_FALSE(page.wait_with({task(201, 400), task(401, 410)}));
  EXPECT_FALSE(page.wait_with({task(101, 250), task(390, 410)})) << "the thread paused";
  EXPECT_FALSE(page.wait_with({task(0, 400)})) << "nothing is known to have begun it";
  EXPECT_FALSE(page.wait_with({}));
}

}  // namespace
}  // namespace reprise
