#include "analysis/calls/call_lines.h"

#include <gmock/gmock.h>

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

CallTree read(std::string_view line) {
  auto tree = read_call_line(line);
  EXPECT_TRUE(tree) << tree.error();
  return std::move(tree).value_or(CallTree{});
}

std::string fault(std::string_view line) {
  auto const tree = read_call_line(line);
  return tree ? "none" : tree.error();
}

constexpr std::string_view kLine =
    R"({"page":"https://shop.test/","started_unix_ms":1.795E12,"window_us":320000,)"
    R"("tags":{"country":"DE","network":"4g"},"calls":[)"
    R"({"kind":"request","name":"https://shop.test/","start_us":0,"end_us":260000,)"
    R"("attributes":{"method":"GET","status":"200"}},)"
    R"({"kind":"phase","name":"wait","start_us":90000,"end_us":200000,"parent":0}],)"
    R"("losses":[{"what":"requests without an end","count":1}]})"
    "\n";

TEST(CallLines, ComeBackAsTheyWere) {
  auto const tree = read(kLine);
  EXPECT_EQ(tree.page, "https://shop.test/");
  EXPECT_EQ(tree.window_us, 320'000);
  EXPECT_THAT(tree.tags, ElementsAre(Pair("country", "DE"), Pair("network", "4g")));
  ASSERT_EQ(tree.calls.size(), 2u);
  EXPECT_EQ(tree.calls[0].attribute("status"), "200");
  EXPECT_EQ(tree.calls[1].kind, CallKind::kPhase);
  EXPECT_EQ(tree.calls[1].parent, 0u);
  EXPECT_EQ(call_line(tree), kLine);
}

TEST(CallLines, HaveTextThatIsNoUtf8AsFarAsItIs) {
  CallTree tree{.page = "https://a.test/\xe9", .window_us = 5};
  tree.calls.push_back({.name = "https://a.test/\xe9", .end_us = 5});
  tree.calls[0].attributes = {{"desc", "Z\xfcrich"}};
  auto const again = read(call_line(tree));
  ASSERT_EQ(again.calls.size(), 1u);
  EXPECT_EQ(again.calls[0].name, "https://a.test/\xef\xbf\xbd");
  EXPECT_EQ(again.calls[0].attribute("desc"), "Z\xef\xbf\xbdrich");
}

TEST(CallLines, HaveABoundedNumberOfLosses) {
  std::string losses;
  for (int i = 0; i < 200'000; ++i) {
    losses +=
        std::string(i == 0 ? "" : ",") + R"({"what":")" + std::to_string(i) + R"(","count":1})";
  }
  auto const tree = read(R"({"calls":[],"losses":[)" + losses + "]}");
  EXPECT_EQ(tree.losses.size(), 101u);
  std::uint64_t count = 0;
  for (CallLoss const& loss : tree.losses) count += loss.count;
  EXPECT_EQ(count, 200'000u);
}

TEST(CallLines, EndWithTheLatestCallIfNoWindowIsGiven) {
  auto const tree = read(R"({"calls":[{"kind":"task","name":"script","start_us":5,"end_us":90}]})");
  EXPECT_EQ(tree.window_us, 90);
  EXPECT_FALSE(tree.started_unix_ms);
}

TEST(CallLines, SayWhatIsWrongWithALine) {
  EXPECT_THAT(fault("{"), HasSubstr("not JSON"));
  EXPECT_EQ(fault("[]"), "not a JSON object");
  EXPECT_EQ(fault(R"({"calls":[{"kind":"request"},{"kind":"query"}]})"),
            "calls[1].kind must be request, phase, span, task or measure");
  EXPECT_EQ(fault(R"({"calls":[{"kind":"task","start_us":"1"}]})"),
            "calls[0].start_us must be a number or null");
  EXPECT_EQ(fault(R"({"tags":{"network":4}})"), "tags.network must be a text");
}

TEST(CallLines, AreMendedAndCounted) {
  auto const tree = read(R"({"window_us":1e14,"calls":[)"
                         R"({"kind":"span","start_us":-5,"end_us":9},)"
                         R"({"kind":"span","start_us":9,"end_us":4,"parent":1},)"
                         R"({"kind":"span","start_us":1,"end_us":2,"parent":99999999999}]})");
  EXPECT_EQ(tree.window_us, CallTree::kWindowUsMax);
  EXPECT_EQ(tree.calls[0].start_us, 0);
  EXPECT_EQ(tree.calls[1].end_us, 9);
  EXPECT_EQ(tree.calls[1].parent, kNoParent);
  EXPECT_EQ(tree.calls[2].parent, kNoParent);
  EXPECT_THAT(tree.losses, ElementsAre(Field(&CallLoss::count, 1), Field(&CallLoss::count, 1),
                                       Field(&CallLoss::count, 2)));
}

TEST(CallLines, NestOnlySoDeep) {
  CallTree deep{.window_us = 10};
  for (std::uint32_t i = 0; i < 2 * CallTree::kDepthMax; ++i) {
    deep.calls.push_back({.kind = CallKind::kSpan, .name = "span", .end_us = 10});
    if (i > 0) deep.calls.back().parent = i - 1;
  }
  normalize(deep);
  EXPECT_EQ(deep.calls[CallTree::kDepthMax - 1].parent, CallTree::kDepthMax - 2);
  EXPECT_EQ(deep.calls[CallTree::kDepthMax].parent, kNoParent);
  EXPECT_THAT(deep.losses, ElementsAre(Field(&CallLoss::count, 1)));
}

}  // namespace
}  // namespace reprise
