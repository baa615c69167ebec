#include "analysis/spans/join.h"

#include <gmock/gmock.h>

#include <random>

#include "analysis/spans/server_calls.h"
#include "base/http/traceparent.h"
#include "tests/analysis/spans/span_fixture.h"
#include "tests/test_seed.h"

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;
using testing::SizeIs;

constexpr double kStartedMs = 1'000'000;  // of the view, by the browser's clock

/// A view to which requests are added.
struct View {
  CallTree tree{
      .page = "https://shop.test/", .started_unix_ms = kStartedMs, .window_us = 1'000'000};

  /// Sent at and answered at, in ms of the view. `trace` and `span` of its traceparent.
  void request(std::string url, int sent_ms, int first_byte_ms, unsigned trace = 0,
               unsigned span = 0) {
    auto const place = static_cast<std::uint32_t>(tree.calls.size());
    tree.calls.push_back({.kind = CallKind::kRequest,
                          .name = std::move(url),
                          .start_us = sent_ms * 1000 - 5000,
                          .end_us = first_byte_ms * 1000 + 9000});
    tree.calls.back().set("method", "GET");
    if (trace != 0) tree.calls.back().set("traceparent", traceparent(0, trace, span));
    tree.calls.push_back({.kind = CallKind::kPhase,
                          .name = "wait",
                          .start_us = sent_ms * 1000,
                          .end_us = first_byte_ms * 1000,
                          .parent = place});
  }

  /// "name start-end in URL" of each span, in ms.
  std::vector<std::string> spans() const {
    std::vector<std::string> texts;
    for (const Call& call : tree.calls) {
      if (call.kind != CallKind::kSpan) continue;
      auto const* around = &tree.calls[call.parent];
      while (around->parent != kNoParent) around = &tree.calls[around->parent];
      texts.push_back(call.name + " " + std::to_string(call.start_us / 1000) + "-" +
                      std::to_string(call.end_us / 1000) + " in " + around->name);
    }
    return texts;
  }
};

/// A span of a server for `target`, in ms of the view by a clock that is `ahead_ms` ahead.
Span served(unsigned id, std::string target, double start_ms, double end_ms, double ahead_ms = 0) {
  auto span = span_of(id, 0, kStartedMs + ahead_ms + start_ms, kStartedMs + ahead_ms + end_ms,
                      "span" + std::to_string(id), "server");
  span.trace_id = id_of(0) + id_of(id);
  span.attributes = {{"url.path", std::move(target)}};
  return span;
}

std::vector<CallLoss> join(View& view, std::vector<Span> spans) {
  SpanSet set;
  set.spans = std::move(spans);
  CallTree* const trees[] = {&view.tree};
  return join_spans(trees, set);
}

TEST(SpanJoin, IsExactByTraceparent) {
  View view;
  view.request("https://shop.test/a", 100, 200, 6, 60);
  view.request("https://shop.test/a", 100, 200, 7, 70);
  auto server = served(7, "/elsewhere", 120, 180);
  server.parent_id = traceparent(0, 7, 70).substr(36, 16);
  auto query = span_of(8, 7, kStartedMs + 130, kStartedMs + 150, "SELECT");
  query.trace_id = server.trace_id;
  // The ids are hexadecimal.
  ASSERT_EQ(server.trace_id,
            parse_traceparent(view.tree.calls[2].attribute("traceparent"))->trace_id);
  auto const losses = join(view, {query, server});
  EXPECT_THAT(losses, IsEmpty());
  EXPECT_THAT(view.spans(), ElementsAre("span7 120-180 in https://shop.test/a",
                                        "SELECT 130-150 in https://shop.test/a"));
  EXPECT_EQ(view.tree.calls[4].parent, 3u);
}

TEST(SpanJoin, IsExactAlsoBelowThePagesOwnSpans) {
  View view;
  view.request("https://shop.test/a", 100, 200, 7, 70);
  view.request("https://shop.test/b", 100, 200, 7, 71);
  auto server = served(7, "/elsewhere", 120, 180);
  server.parent_id = traceparent(0, 7, 70).substr(36, 16);
  auto asking = span_of(70, 69, kStartedMs + 90, kStartedMs + 210, "fetch", "client");
  auto page = span_of(69, 0, kStartedMs + 10, kStartedMs + 900, "click", "internal");
  for (Span* const each : {&asking, &page}) each->trace_id = server.trace_id;
  asking.span_id = server.parent_id;
  auto const losses = join(view, {page, asking, server});
  EXPECT_THAT(losses, IsEmpty());
  EXPECT_THAT(view.spans(), ElementsAre("span7 120-180 in https://shop.test/a"));
}

TEST(SpanJoin, TakesATraceWhoseFirstSpansAreMissing) {
  View view;
  view.request("https://shop.test/a", 100, 200, 7, 70);
  auto inner = served(7, "", 120, 180);
  inner.parent_id = id_of(99);
  join(view, {inner});
  EXPECT_THAT(view.spans(), SizeIs(1));
}

TEST(SpanJoin, BoundsTheClocksByAllRequestsOfAServer) {
  // The server's clock is 5,000 ms ahead. Of /a, at most 20 ms of the wait are left before or after
  // the span; of /b, at most 2 ms: that tells it for both.
  View view;
  view.request("https://shop.test/a", 100, 200, 7, 70);
  view.request("https://shop.test/b", 300, 352, 8, 80);
  join(view, {served(7, "/a", 101, 181, 5000), served(8, "/b", 301, 351, 5000)});
  EXPECT_THAT(view.spans(), ElementsAre("span7 101-181 in https://shop.test/a",
                                        "span8 301-351 in https://shop.test/b"));
  EXPECT_THAT(view.tree.losses, IsEmpty());
}

TEST(SpanJoin, CentresASpanThatNothingElseBounds) {
  View view;
  view.request("https://shop.test/a", 100, 200, 7, 70);
  join(view, {served(7, "/a", 0, 40, -99)});
  EXPECT_THAT(view.spans(), ElementsAre("span7 130-170 in https://shop.test/a"));
}

TEST(SpanJoin, SaysThatAClockContradictsTheRequests) {
  View view;
  view.request("https://shop.test/a", 100, 200, 7, 70);
  view.request("https://shop.test/b", 300, 400, 8, 80);
  auto const losses = join(view, {served(7, "/a", 100, 190), served(8, "/b", 300, 390, 500)});
  EXPECT_THAT(view.spans(), ElementsAre("span7 105-195 in https://shop.test/a",
                                        "span8 305-395 in https://shop.test/b"));
  EXPECT_THAT(losses, ElementsAre(Field(&CallLoss::count, 1)));
}

TEST(SpanJoin, AllowsForTracersThatRoundToMilliseconds) {
  View view;
  view.request("https://shop.test/a", 100, 102, 7, 70);
  view.request("https://shop.test/b", 300, 310, 8, 80);
  // In truth from 300.9 on.
  auto const losses = join(view, {served(7, "/a", 100.2, 101.8), served(8, "/b", 299.2, 309.1)});
  EXPECT_THAT(losses, IsEmpty());
  EXPECT_THAT(view.tree.losses, IsEmpty());
  EXPECT_THAT(view.spans(), SizeIs(2));
}

TEST(SpanJoin, CutsSpansToTheWait) {
  View view;
  view.request("https://shop.test/a", 100, 200, 7, 70);
  auto late = span_of(8, 7, kStartedMs + 190, kStartedMs + 290, "log");
  late.trace_id = id_of(0) + id_of(7);
  join(view, {served(7, "/a", 100, 200), late});
  EXPECT_THAT(view.spans(), ElementsAre("span7 100-200 in https://shop.test/a",
                                        "log 190-200 in https://shop.test/a"));
  EXPECT_THAT(view.tree.losses, ElementsAre(Field(&CallLoss::count, 1)));
}

TEST(SpanJoin, IsByUrlAndTimeWithoutATraceparent) {
  View view;
  view.request("https://shop.test/a?x=1", 100, 200);
  view.request("https://shop.test/a?x=2", 100, 200);
  view.request("https://shop.test/poll", 300, 400);
  view.request("https://shop.test/poll", 500, 600);
  join(view, {served(1, "/a?x=2", 130, 150, 7), served(2, "/poll", 510, 590, 7),
              served(3, "/poll", 310, 390, 7)});
  EXPECT_THAT(view.spans(), ElementsAre("span1 130-150 in https://shop.test/a?x=2",
                                        "span3 310-390 in https://shop.test/poll",
                                        "span2 510-590 in https://shop.test/poll"));
}

TEST(SpanJoin, LearnsTheClockWhereThereIsNoChoice) {
  // By its own clock, the server answers each poll when the one after it is made.
  View view;
  view.request("https://shop.test/once", 100, 152);
  for (int i = 0; i < 5; ++i) view.request("https://shop.test/poll", 200 + i * 100, 260 + i * 100);
  std::vector<Span> spans = {served(9, "/once", 101, 151, 100)};
  for (unsigned i = 0; i < 5; ++i)
    spans.push_back(served(1 + i, "/poll", 205 + i * 100, 255 + i * 100, 100));
  join(view, spans);
  auto const texts = view.spans();
  EXPECT_THAT(texts, SizeIs(6));
  EXPECT_THAT(texts, testing::Contains("span1 205-255 in https://shop.test/poll"));
  EXPECT_THAT(texts, testing::Contains("span5 605-655 in https://shop.test/poll"));
}

TEST(SpanJoin, OfManyRequestsForOneUrlTakesTheNearest) {
  // Comparing each with each would take minutes. The spans come in the opposite order.
  constexpr int kPolls = 20'000;
  View view;
  view.tree.window_us = kPolls * 10'000;
  std::vector<Span> spans;
  for (int i = 0; i < kPolls; ++i) {
    view.request("https://shop.test/poll", 100 + i * 10, 108 + i * 10);
    auto const other = kPolls - 1 - i;
    spans.push_back(
        served(1 + static_cast<unsigned>(other), "/poll", 101 + other * 10, 107 + other * 10));
  }
  join(view, spans);
  std::size_t right = 0;
  for (const Call& call : view.tree.calls) {
    if (call.kind != CallKind::kSpan) continue;
    auto const& wait = view.tree.calls[call.parent];
    right += call.start_us - wait.start_us < 2000 ? 1 : 0;
  }
  EXPECT_EQ(right, std::size_t{kPolls});
}

TEST(SpanJoin, LosesTracesThatBelongToNoRequest) {
  View view;
  view.request("https://shop.test/a", 100, 200);
  view.request("https://cdn.test/b", 100, 200);
  auto other_method = served(1, "/a", 110, 190);
  other_method.attributes.emplace_back("http.request.method", "POST");
  auto other_host = served(2, "/a", 110, 190);
  other_host.attributes.emplace_back("server.address", "cdn.test");
  auto client = served(3, "/a", 110, 190);
  client.kind = "client";
  auto const losses = join(view, {other_method, other_host, client, served(4, "/c", 110, 190),
                                  served(5, "/a", 110, 190, 70'000)});
  EXPECT_THAT(losses, ElementsAre(Field(&CallLoss::count, 5)));
  EXPECT_THAT(view.spans(), IsEmpty());
}

TEST(SpanJoin, KnowsAServerBehindAProxyByAnotherName) {
  View view;
  view.request("https://shop.test/a", 100, 200);
  auto hidden = served(1, "/a", 110, 190);
  hidden.attributes.emplace_back("server.address", "localhost");
  join(view, {hidden});
  EXPECT_THAT(view.spans(), SizeIs(1));
}

TEST(SpanJoin, ReplacesWhatTheResponseSaidItself) {
  View view;
  view.request("https://shop.test/a", 100, 200, 7, 70);
  view.request("https://shop.test/b", 100, 200);
  std::vector<ServerTiming> const metrics = {{.name = "db", .duration_us = 50'000}};
  add_server_timing(view.tree, 1, metrics);
  add_server_timing(view.tree, 3, metrics);
  join(view, {served(7, "/a", 120, 180)});
  EXPECT_THAT(view.spans(), ElementsAre("db 125-175 in https://shop.test/b",
                                        "span7 120-180 in https://shop.test/a"));
}

TEST(SpanJoin, PutsEverySpanUnderItsRequestWhateverTheClocks) {
  TestSeed const seed;
  std::mt19937_64 random(seed.value());
  auto const below = [&random](std::uint64_t limit) { return static_cast<int>(random() % limit); };
  for (int round = 0; round < 500; ++round) {
    View view;
    std::vector<Span> spans;
    double const ahead_ms = below(20'000) - 10'000;
    auto const requests = 1 + below(20);
    for (int i = 0; i < requests; ++i) {
      auto const sent = 5 + below(800);
      auto const first_byte = sent + 2 + below(200);
      auto const id = static_cast<unsigned>(i + 1);
      view.request("https://shop.test/" + std::to_string(i), sent, first_byte, id < 10 ? id : 0, 5);
      auto const start = sent + below(static_cast<std::uint64_t>(first_byte - sent));
      auto const end = start + below(static_cast<std::uint64_t>(first_byte - start + 1));
      spans.push_back(served(id, "/" + std::to_string(i), start, end, ahead_ms));
    }
    std::ranges::shuffle(spans, random);
    auto const losses = join(view, spans);
    ASSERT_THAT(view.spans(), SizeIs(static_cast<std::size_t>(requests)));
    ASSERT_THAT(losses, IsEmpty());
    for (const Call& call : view.tree.calls) {
      if (call.kind != CallKind::kSpan) continue;
      const Call& wait = view.tree.calls[call.parent];
      const Call& request = view.tree.calls[wait.parent];
      ASSERT_EQ("https://shop.test/" + std::to_string(std::stoi(call.name.substr(4)) - 1),
                request.name);
      ASSERT_GE(call.start_us, wait.start_us);
      ASSERT_LE(call.end_us, wait.end_us);
    }
    // One clock for all, and no span had to be cut.
    ASSERT_THAT(view.tree.losses, IsEmpty()) << view.tree.losses[0].what;
  }
}

}  // namespace
}  // namespace reprise
