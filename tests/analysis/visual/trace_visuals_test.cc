#include "analysis/visual/trace_visuals.h"

#include <gmock/gmock.h>

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::expected<TraceVisuals, std::string> read(std::string_view events,
                                              std::string_view url = "https://shop.test/") {
  auto const text = R"({"metadata":{"a":[1]},"traceEvents":[)" + std::string(events) + "]}";
  importing::MemoryInput input(text);
  importing::InputSource source(input, 0, text.size(), nullptr);
  importing::ByteReader reader(source);
  std::vector<std::string> const urls = {std::string(url), "https://shop.test/home"};
  return trace_visuals(reader, urls);
}

constexpr std::string_view kNavigation = R"(
  {"name":"fetchStart","ts":1002000,"pid":7,"tid":7,"args":{"frame":"F"}},
  {"name":"navigationStart","ts":900000,"pid":6,"tid":6,
   "args":{"frame":"F","data":{"documentLoaderURL":"","isOutermostMainFrame":true}}},
  {"name":"navigationStart","ts":1000000,"pid":7,"tid":7,
   "args":{"frame":"F","data":{"documentLoaderURL":"https://shop.test/",
   "isOutermostMainFrame":true}}})";

TEST(TraceVisuals, HaveTheFramesOfThePage) {
  auto const visuals = read(std::string(kNavigation) + R"(,
    {"name":"Screenshot","ts":1502000,"pid":1,"args":{"snapshot":"Yg=="}},
    {"name":"Screenshot","ts":1001000,"pid":1,"args":{"snapshot":"YQ=="}},
    {"name":"Screenshot","ts":1702000,"pid":1,"args":{"snapshot":"not base64!"}},
    {"name":"Screenshot","ts":1602000,"pid":1,"args":{"snapshot":"Yw=="}})");
  ASSERT_TRUE(visuals) << visuals.error();
  ASSERT_EQ(visuals->frames.size(), 2U);
  EXPECT_EQ(visuals->frames[0].at_ms, 500);
  EXPECT_EQ(visuals->frames[0].jpeg, "b");
  EXPECT_EQ(visuals->frames[1].jpeg, "c");
}

TEST(TraceVisuals, HaveTheLongTasksOfTheMainThreadAndWhatTheyBlock) {
  auto const visuals = read(std::string(kNavigation) + R"(,
    {"name":"firstContentfulPaint","ts":1202000,"pid":7,"tid":7,"args":{"frame":"F"}},
    {"name":"RunTask","ts":1052000,"dur":60000,"pid":7,"tid":7},
    {"name":"RunTask","ts":1152000,"dur":150000,"pid":7,"tid":7},
    {"name":"RunTask","ts":1402000,"dur":49999,"pid":7,"tid":7},
    {"name":"RunTask","ts":1502000,"dur":80000,"pid":7,"tid":7},
    {"name":"RunTask","ts":1602000,"dur":900000,"pid":7,"tid":8},
    {"name":"RunTask","ts":1602000,"dur":900000,"pid":8,"tid":7},
    {"name":"RunTask","ts":400000,"dur":90000,"pid":7,"tid":7})");
  ASSERT_TRUE(visuals) << visuals.error();
  ASSERT_EQ(visuals->long_tasks.size(), 3U);
  EXPECT_EQ(visuals->long_tasks[1].start_ms, 150);
  EXPECT_EQ(visuals->long_tasks[1].end_ms, 300);
  EXPECT_EQ(visuals->first_contentful_paint_ms, 200);
  // Nothing before the paint at 200; (300 - 200) - 50; 80 - 50.
  EXPECT_EQ(visuals->total_blocking_ms, 80);
}

TEST(TraceVisuals, AreOfTheSiteThatAScriptOfThePageLedTo) {
  auto const visuals = read(std::string(kNavigation) + R"(,
    {"name":"firstContentfulPaint","ts":1052000,"pid":7,"tid":7,"args":{"frame":"F"}},
    {"name":"largestContentfulPaint::Candidate","ts":1052000,"pid":7,"tid":7,
     "args":{"frame":"F","data":{"nodeName":"P","type":"text","size":900}}},
    {"name":"RunTask","ts":1102000,"dur":70000,"pid":7,"tid":7},
    {"name":"navigationStart","ts":1200000,"pid":9,"tid":9,
     "args":{"frame":"G","data":{"documentLoaderURL":"https://shop.test/home",
     "isOutermostMainFrame":true}}},
    {"name":"fetchStart","ts":1201000,"pid":9,"tid":9,"args":{"frame":"G"}},
    {"name":"ResourceSendRequest","ts":1300000,"pid":9,"args":{"data":{"frame":"G",
     "url":"https://shop.test/b.css","renderBlocking":"blocking"}}},
    {"name":"firstContentfulPaint","ts":1402000,"pid":9,"tid":9,"args":{"frame":"G"}},
    {"name":"largestContentfulPaint::Candidate","ts":1402000,"pid":9,"tid":9,
     "args":{"frame":"G","data":{"nodeName":"H1","type":"text","size":900}}},
    {"name":"RunTask","ts":1452000,"dur":150000,"pid":9,"tid":9})");
  ASSERT_TRUE(visuals) << visuals.error();
  EXPECT_EQ(visuals->first_contentful_paint_ms, 400) << "since the first request";
  ASSERT_EQ(visuals->long_tasks.size(), 1U);
  EXPECT_EQ(visuals->long_tasks[0].start_ms, 450);
  EXPECT_EQ(visuals->long_tasks[0].end_ms, 600);
  EXPECT_EQ(visuals->total_blocking_ms, 100);
  ASSERT_TRUE(visuals->largest_paint);
  EXPECT_EQ(visuals->largest_paint->node, "H1");
  EXPECT_THAT(visuals->render_blocking, ElementsAre("https://shop.test/b.css"));
}

TEST(TraceVisuals, HaveTheLastCandidateForTheLargestPaint) {
  constexpr std::string_view kPaints = R"(,
    {"name":"largestContentfulPaint::Candidate","ts":1202000,"pid":7,"tid":7,"args":{"frame":"F",
     "data":{"nodeName":"H1","type":"text","size":900}}},
    {"name":"largestContentfulPaint::Candidate","ts":1402000,"pid":7,"tid":7,"args":{"frame":"F",
     "data":{"nodeName":"IMG class='hero'","type":"image","size":32000}}},
    {"name":"largestContentfulPaint::Candidate","ts":1502000,"pid":7,"tid":7,"args":{"frame":"G",
     "data":{"nodeName":"P","type":"text","size":64000}}})";
  auto const visuals = read(std::string(kNavigation) + std::string(kPaints));
  ASSERT_TRUE(visuals && visuals->largest_paint);
  EXPECT_EQ(visuals->largest_paint->node, "IMG class='hero'");
  EXPECT_EQ(visuals->largest_paint->type, "image");
  EXPECT_EQ(visuals->largest_paint->at_ms, 400);
  EXPECT_FALSE(visuals->total_blocking_ms);
  auto const gone = read(std::string(kNavigation) + std::string(kPaints) + R"(,
    {"name":"largestContentfulPaint::Invalidate","ts":1602000,"pid":7,"args":{"frame":"F"}})");
  ASSERT_TRUE(gone);
  EXPECT_FALSE(gone->largest_paint);
}

TEST(TraceVisuals, NameTheRequestsThatBlockRendering) {
  auto const request = [](std::string_view url, std::string_view how) {
    return R"(,{"name":"ResourceSendRequest","ts":1100000,"pid":7,"args":{"data":{"frame":"F",
      "initiator":{"url":"https://shop.test/"},"url":")" +
           std::string(url) + R"(","renderBlocking":")" + std::string(how) + "\"}}}";
  };
  auto const visuals =
      read(std::string(kNavigation) + request("https://shop.test/a.css", "blocking") +
           request("https://shop.test/b.js", "in_body_parser_blocking") +
           request("https://shop.test/c.js", "potentially_blocking") +
           request("https://shop.test/d.js", "non_blocking") +
           request("https://shop.test/a.css", "blocking"));
  ASSERT_TRUE(visuals) << visuals.error();
  EXPECT_THAT(visuals->render_blocking,
              ElementsAre("https://shop.test/a.css", "https://shop.test/b.js"));
}

TEST(TraceVisuals, AreReadBesideATextThatIsTooLong) {
  std::string const megabyte(1 << 20, 'A');
  auto const visuals = read(R"(
    {"name":"PaintImage","ts":1100000,"pid":7,"args":{"data":{"frame":"F",
     "url":"data:image/png;base64,)" +
                            megabyte + R"("}}},
    {"name":"ResourceSendRequest","ts":1100000,"pid":7,"args":{"data":{"frame":"F",
     "renderBlocking":"blocking","url":"data:text/css,)" +
                            megabyte + R"("}}},
    {"name":"Screenshot","ts":1402000,"pid":1,"args":{"snapshot":"AAAA)" +
                            megabyte + R"("}},
    {"name":"Screenshot","ts":1502000,"pid":1,"args":{"snapshot":"Yg=="}},)" +
                            std::string(kNavigation));
  ASSERT_TRUE(visuals) << visuals.error();
  ASSERT_EQ(visuals->frames.size(), 1U) << "a part of a picture is not shown";
  EXPECT_EQ(visuals->frames[0].at_ms, 500);
  EXPECT_TRUE(visuals->render_blocking.empty());
}

TEST(TraceVisuals, AreThoseOfTheRequestedPage) {
  auto const none = read(kNavigation, "https://other.test/");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error(), "it has no load of https://other.test/");
  EXPECT_TRUE(read(kNavigation, "https://shop.test/#top"));
  auto const bad = read(R"({"name":)");
  ASSERT_FALSE(bad);
  EXPECT_THAT(bad.error(), HasSubstr("JSON"));
}

}  // namespace
}  // namespace reprise
