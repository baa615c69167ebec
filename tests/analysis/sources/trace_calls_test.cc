#include "analysis/sources/trace_calls.h"

#include <gmock/gmock.h>

#include <map>
#include <string>
#include <vector>

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// What add_trace() adds to a view of https://shop.test/ that ends after 500 ms.
std::expected<CallTree, std::string> traced(std::string_view events,
                                            std::vector<Call> requests = {},
                                            TraceUntil until = TraceUntil::kWindow,
                                            const std::vector<std::string>& urls = {
                                                "https://shop.test/"}) {
  CallTree tree{.page = "https://shop.test/", .window_us = 500'000, .calls = std::move(requests)};
  auto const text = R"({"metadata":{"a":[1]},"traceEvents":[)" + std::string(events) + "]}";
  importing::MemoryInput input(text);
  importing::InputSource source(input, 0, text.size(), nullptr);
  importing::ByteReader reader(source);
  auto const added = add_trace(reader, urls, tree, until);
  if (!added) return std::unexpected(added.error());
  return tree;
}

constexpr std::string_view kNavigation = R"(
  {"name":"navigationStart","cat":"blink.user_timing","ph":"R","ts":1000000,"pid":7,"tid":7,
   "args":{"frame":"F","data":{"documentLoaderURL":"https://shop.test/",
   "isOutermostMainFrame":true}}},
  {"name":"fetchStart","cat":"blink.user_timing","ph":"R","ts":1002000,"pid":7,"tid":7,
   "args":{"frame":"F"}})";

TEST(TraceCalls, AreTheWorkOfThePagesMainThread) {
  auto const tree = traced(R"(
    {"name":"EvaluateScript","ph":"X","ts":1152000,"dur":30000,"pid":7,"tid":7,
     "args":{"data":{"url":"https://shop.test/a.js","lineNumber":3}}},
    {"name":"RunTask","ph":"X","ts":1102000,"dur":100000,"tdur":60000,"pid":7,"tid":7},
    {"name":"FunctionCall","ph":"X","ts":1160000,"dur":10000,"pid":7,"tid":7,
     "args":{"data":{"url":"https://shop.test/a.js","functionName":"boot"}}},
    {"name":"Layout","ph":"X","ts":1190000,"dur":5000,"pid":7,"tid":7,"args":{"b":{"x":[]}}},
    {"name":"Layout","ph":"X","ts":1196000,"dur":99,"pid":7,"tid":7},
    {"name":"Paint","ph":"X","ts":1198000,"dur":9000,"pid":7,"tid":8},
    {"name":"Other","ph":"X","ts":1102000,"dur":9000,"pid":7,"tid":7},
    {"name":"RunTask","ph":"X","ts":900000,"dur":9000,"pid":7,"tid":7},
    {"name":"RunTask","ph":"X","ts":1600000,"dur":9000,"pid":7,"tid":7},)" +
                           std::string(kNavigation));
  ASSERT_TRUE(tree) << tree.error();
  std::vector<std::string> calls;
  for (Call const& call : tree->calls) {
    EXPECT_EQ(call.kind, CallKind::kTask);
    calls.push_back(call.name + " " + std::to_string(call.start_us / 1000) + "-" +
                    std::to_string(call.end_us / 1000) + " in " +
                    std::to_string(static_cast<int>(call.parent)));
  }
  EXPECT_THAT(calls, ElementsAre("task 100-200 in -1", "script 150-180 in 0", "script 158-168 in 1",
                                 "layout 188-193 in 0"));
  EXPECT_EQ(tree->calls[0].attribute("processor_us"), "60000");
  EXPECT_EQ(tree->calls[1].attribute("processor_us"), "") << "not told";
  EXPECT_EQ(tree->calls[1].attribute("url"), "https://shop.test/a.js");
  EXPECT_EQ(tree->calls[1].attribute("line"), "3");
  EXPECT_EQ(tree->calls[2].attribute("function"), "boot");
}

TEST(TraceCalls, NameTheEventWhoseListenersAreCalled) {
  auto const tree = traced(R"(
    {"name":"EventDispatch","ph":"X","ts":1152000,"dur":30000,"pid":7,"tid":7,
     "args":{"data":{"type":"DOMContentLoaded"}}},
    {"name":"EventDispatch","ph":"X","ts":1192000,"dur":3000,"pid":7,"tid":7,
     "args":{"data":{"type":7}}},
    {"name":"FunctionCall","ph":"X","ts":1160000,"dur":10000,"pid":7,"tid":7,
     "args":{"data":{"url":"https://shop.test/a.js","type":"x"}}},)" +
                           std::string(kNavigation));
  ASSERT_TRUE(tree) << tree.error();
  ASSERT_EQ(tree->calls.size(), 3U);
  EXPECT_EQ(tree->calls[0].attribute("event"), "DOMContentLoaded");
  EXPECT_EQ(tree->calls[1].parent, 0U);
  EXPECT_EQ(tree->calls[1].attribute("event"), "");
  EXPECT_EQ(tree->calls[2].attribute("event"), "") << "not a string";
}

TEST(TraceCalls, AreOfTheSiteThatAScriptOfThePageLedTo) {
  auto const tree = traced(R"(
    {"name":"navigationStart","cat":"blink.user_timing","ph":"R","ts":1200000,"pid":9,"tid":9,
     "args":{"frame":"G","data":{"documentLoaderURL":"https://b.test/",
     "isOutermostMainFrame":true}}},
    {"name":"fetchStart","cat":"blink.user_timing","ph":"R","ts":1201000,"pid":9,"tid":9,
     "args":{"frame":"G"}},
    {"name":"RunTask","ph":"X","ts":1302000,"dur":50000,"pid":9,"tid":9},)" +
                               std::string(kNavigation),
                           {}, TraceUntil::kWindow, {"https://shop.test/", "https://b.test/"});
  ASSERT_TRUE(tree) << tree.error();
  ASSERT_EQ(tree->calls.size(), 1U);
  EXPECT_EQ(tree->calls[0].start_us, 300'000) << "since the first request";
}

Call request(std::string name, std::string type, std::int64_t start_ms, std::string initiator) {
  Call call{.name = std::move(name), .start_us = start_ms * 1000, .end_us = 400'000};
  call.set("type", std::move(type));
  call.set("initiator", std::move(initiator));
  return call;
}

TEST(TraceCalls, NameTheScriptThatRanWhenAnImageWasRequested) {
  const std::string page = "https://shop.test/";
  const std::string script = "https://shop.test/a.js#x";
  auto const tree = traced(
      R"(
    {"name":"EvaluateScript","ph":"X","ts":1052000,"dur":10000,"pid":7,"tid":7,
     "args":{"data":{"url":"https://shop.test/"}}},
    {"name":"EvaluateScript","ph":"X","ts":1152000,"dur":30000,"pid":7,"tid":7,
     "args":{"data":{"url":"https://shop.test/a.js#x"}}},
    {"name":"FunctionCall","ph":"X","ts":1160000,"dur":10000,"pid":7,"tid":7,
     "args":{"data":{"url":"https://shop.test/other.js"}}},)" +
          std::string(kNavigation),
      {request(page, "Document", 0, ""), request("https://shop.test/a.js", "Script", 10, page),
       request("https://shop.test/other.js", "Script", 11, page),
       request("https://shop.test/inline.png", "Image", 55, page),
       request("https://shop.test/before.png", "Image", 149, page),
       request("https://shop.test/inside.png", "Image", 165, page),
       request("https://shop.test/data", "Fetch", 166, "https://shop.test/b"),
       request("https://shop.test/last.png", "Image", 180, page),
       request("https://shop.test/after.png", "Image", 181, page)});
  ASSERT_TRUE(tree) << tree.error();
  std::map<std::string, std::string> initiators;
  for (Call const& call : tree->calls) {
    if (call.kind == CallKind::kRequest) {
      initiators[call.name.substr(page.size())] = call.attribute("initiator");
    } else if (call.attribute("url").ends_with("/other.js")) {
      EXPECT_EQ(call.attribute("function"), "(anonymous)") << "it is not the run of the script";
    } else {
      EXPECT_EQ(call.attribute("function"), "");
    }
  }
  EXPECT_THAT(
      initiators,
      testing::UnorderedElementsAre(
          testing::Pair("", ""), testing::Pair("a.js", page), testing::Pair("other.js", page),
          testing::Pair("inline.png", page), testing::Pair("before.png", page),
          testing::Pair("inside.png", script), testing::Pair("data", "https://shop.test/b"),
          testing::Pair("last.png", script), testing::Pair("after.png", page)));
}

TEST(TraceCalls, DoNotTakeTheUrlOfARequestForThatOfTheScriptThatRuns) {
  const std::string page = "https://shop.test/";
  auto const tree = traced(
      R"(
    {"args":{"data":{"readyState":4,"url":"https://shop.test/late.js"}},
     "name":"XHRReadyStateChange","ph":"X","ts":1152000,"dur":30000,"pid":7,"tid":7},
    {"name":"FunctionCall","ph":"X","ts":1153000,"dur":9000,"pid":7,"tid":7,
     "args":{"data":{"url":"https://shop.test/a.js","functionName":"loaded"}}},)" +
          std::string(kNavigation),
      {request(page, "Document", 0, ""), request("https://shop.test/a.js", "Script", 10, page),
       request("https://shop.test/late.js", "Script", 11, page),
       request("https://shop.test/inside.png", "Image", 155, page),
       request("https://shop.test/after.png", "Image", 170, page)});
  ASSERT_TRUE(tree) << tree.error();
  std::vector<std::string> scripts;
  std::map<std::string, std::string> initiators;
  for (Call const& call : tree->calls) {
    if (call.kind == CallKind::kTask) scripts.emplace_back(call.attribute("url"));
    if (call.attribute("type") != "Image") continue;
    initiators[call.name.substr(page.size())] = call.attribute("initiator");
  }
  EXPECT_THAT(scripts, ElementsAre("", "https://shop.test/a.js"));
  EXPECT_THAT(initiators,
              testing::UnorderedElementsAre(testing::Pair("inside.png", "https://shop.test/a.js"),
                                            testing::Pair("after.png", page)));
}

TEST(TraceCalls, TellOfRequestsWhetherTheyBlockRendering) {
  const std::string page = "https://shop.test/";
  auto const sent = [](int at_ms, const char* frame, const char* blocking, const char* preload) {
    return R"({"name":"ResourceSendRequest","ph":"I","pid":7,"tid":7,"ts":)" +
           std::to_string(1'000'000 + at_ms * 1000) + R"(,"args":{"data":{"frame":")" + frame +
           R"(","url":"https://shop.test/a.js","initiator":{"type":"parser"},"renderBlocking":")" +
           blocking + R"(","isLinkPreload":)" + preload + "}}},";
  };
  auto const tree = traced(
      sent(90, "F", "non_blocking", "false") + sent(60, "F", "blocking", "true") +
          sent(70, "G", "in_body_parser_blocking", "false") + sent(80, "F", "blocking", "false") +
          std::string(kNavigation),
      {request(page + "a.js", "Script", 60, page), request(page + "a.js", "Script", 70, page),
       request(page + "a.js", "Script", 80, page), request(page + "a.js", "Script", 90, page),
       request(page + "b.js", "Script", 95, page)});
  ASSERT_TRUE(tree) << tree.error();
  std::vector<std::string> told;
  for (Call const& call : tree->calls) told.emplace_back(call.attribute("render_blocking"));
  EXPECT_THAT(told, ElementsAre("", "", "blocking", "non_blocking", ""))
      << "neither frames nor preloads";
}

TEST(TraceCalls, AreReadOfEachScriptHoweverShort) {
  auto const tree = traced(R"(
    {"name":"EvaluateScript","ph":"X","ts":1152000,"dur":70,"pid":7,"tid":7,
     "args":{"data":{"url":"https://shop.test/","lineNumber":9}}},
    {"name":"FunctionCall","ph":"X","ts":1162000,"dur":70,"pid":7,"tid":7,
     "args":{"data":{"url":"https://shop.test/"}}},)" +
                           std::string(kNavigation));
  ASSERT_TRUE(tree) << tree.error();
  ASSERT_EQ(tree->calls.size(), 1U);
  EXPECT_EQ(tree->calls[0].attribute("line"), "9");
}

TEST(TraceCalls, AreReadBesideATextThatIsTooLong) {
  std::string const megabyte(1 << 20, 'A');
  auto const tree = traced(R"(
    {"name":"Decode Image","ph":"X","ts":1102000,"dur":9000,"pid":7,"tid":8,
     "args":{"data":{"url":"data:image/png;base64,)" +
                           megabyte + R"("}}},
    {"name":"EvaluateScript","ph":"X","ts":1152000,"dur":9000,"pid":7,"tid":7,
     "args":{"data":{"url":"data:text/javascript,)" +
                           megabyte + R"(","lineNumber":3}}},
    {"name":"EvaluateScript","ph":"X","ts":1172000,"dur":9000,"pid":7,"tid":7,
     "args":{"data":{"url":"https://shop.test/?)" +
                           megabyte + "\"}}}," + std::string(kNavigation));
  ASSERT_TRUE(tree) << tree.error();
  ASSERT_EQ(tree->calls.size(), 2U);
  EXPECT_EQ(tree->calls[0].attribute("url"), "") << "its start names nothing";
  EXPECT_EQ(tree->calls[0].attribute("line"), "3");
  EXPECT_EQ(tree->calls[1].attribute("url").size(), megabyte.size()) << "cut";
  ASSERT_EQ(tree->losses.size(), 1U);
  EXPECT_EQ(tree->losses[0].what, "events of the trace with a text above 1 MiB");
  EXPECT_EQ(tree->losses[0].count, 2U) << "those of the page's main thread";
}

TEST(TraceCalls, NameTheScriptForWhatItsRequestIsRedirectedTo) {
  const std::string page = "https://shop.test/";
  const std::string script = "https://shop.test/a.js";
  auto const between = [&](const std::string& name, std::int64_t start_us, std::int64_t end_us) {
    auto call = request(page + name, "Image", 0, page);
    call.start_us = start_us;
    call.end_us = end_us;
    return call;
  };
  auto hop = between("hop", 165'000, 500'000);
  hop.set("status", "302");
  auto const tree =
      traced(R"(
    {"name":"EvaluateScript","ph":"X","ts":1152000,"dur":30000,"pid":7,"tid":7,
     "args":{"data":{"url":"https://shop.test/a.js"}}},)" +
                 std::string(kNavigation),
             {request(page, "Document", 0, ""), request(script, "Script", 10, page), hop,
              between("of-parser", 499'600, 600'000), between("target", 500'100, 600'000),
              between("later", 500'900, 600'000)});
  ASSERT_TRUE(tree) << tree.error();
  std::map<std::string, std::string> initiators;
  for (Call const& call : tree->calls) {
    if (call.attribute("type") != "Image") continue;
    initiators[call.name.substr(page.size())] = call.attribute("initiator");
  }
  EXPECT_THAT(initiators, testing::UnorderedElementsAre(
                              testing::Pair("hop", script), testing::Pair("target", script),
                              testing::Pair("of-parser", page), testing::Pair("later", page)));
}

TEST(TraceCalls, AreReadUntilTheLastRequestWhereThatIsAskedFor) {
  auto late = request("https://shop.test/late.js", "Script", 450, "");
  late.end_us = 800'000;
  auto const work = R"(
    {"name":"RunTask","ph":"X","ts":1102000,"dur":100000,"pid":7,"tid":7},
    {"name":"RunTask","ph":"X","ts":1702000,"dur":9000,"pid":7,"tid":7},
    {"name":"RunTask","ph":"X","ts":1802000,"dur":9000,"pid":7,"tid":7},)" +
                    std::string(kNavigation);
  auto const starts = [&](std::vector<Call> requests, TraceUntil until) {
    std::vector<std::int64_t> found;
    auto const tree = traced(work, std::move(requests), until);
    for (Call const& call : tree.value().calls) {
      if (call.kind == CallKind::kTask) found.push_back(call.start_us);
    }
    return found;
  };
  EXPECT_THAT(starts({late}, TraceUntil::kLastRequest), ElementsAre(100'000, 700'000));
  EXPECT_THAT(starts({late}, TraceUntil::kWindow), ElementsAre(100'000));
  EXPECT_THAT(starts({}, TraceUntil::kLastRequest), ElementsAre(100'000));
}

TEST(TraceCalls, HaveTheMeasuresOfThePage) {
  auto const tree = traced(std::string(kNavigation) + R"(,
    {"name":"cart","cat":"blink.user_timing","ph":"b","id":"0x1","ts":1052000,"pid":7,"tid":7},
    {"name":"cart","cat":"blink.user_timing","ph":"b","id":"0x2","ts":1062000,"pid":7,"tid":7},
    {"name":"cart","cat":"blink.user_timing","ph":"e","id":"0x1","ts":1082000,"pid":7,"tid":7},
    {"name":"never","cat":"blink.user_timing","ph":"e","id":"0x1","ts":1082000,"pid":7,"tid":7})");
  ASSERT_TRUE(tree) << tree.error();
  ASSERT_EQ(tree->calls.size(), 1u);
  EXPECT_EQ(tree->calls[0].kind, CallKind::kMeasure);
  EXPECT_EQ(tree->calls[0].start_us, 50'000);
  EXPECT_EQ(tree->calls[0].end_us, 80'000);
}

TEST(TraceCalls, AreFoundByAnyUrlThatThePageHad) {
  auto const is_found = [](std::string_view events, const std::vector<std::string>& urls) {
    return traced(events, {}, TraceUntil::kWindow, urls).has_value();
  };
  EXPECT_TRUE(is_found(kNavigation, {"http://shop.test/", "https://shop.test/",
                                     "https://shop.test/changed-by-a-script"}));
  EXPECT_TRUE(is_found(kNavigation, {"https://shop.test/#top"}));
  EXPECT_TRUE(is_found(R"({"name":"navigationStart","cat":"blink.user_timing","ts":1000000,"args":{
    "data":{"documentLoaderURL":"https://shop.test/#top","isOutermostMainFrame":true}}})",
                       {"https://shop.test/"}));
  EXPECT_FALSE(is_found(kNavigation, {"https://shop.test/other", ""}));
  EXPECT_FALSE(is_found(R"({"name":"navigationStart","cat":"blink.user_timing","ts":1000000,"args":{
    "data":{"documentLoaderURL":"","isOutermostMainFrame":true}}})",
                        {""}));
}

TEST(TraceCalls, AreRefusedIfTheyAreOfAnotherPage) {
  EXPECT_EQ(traced("").error(), "it has no load of https://shop.test/");
  EXPECT_THAT(traced("{").error(), HasSubstr("not JSON at byte"));
  EXPECT_EQ(traced(R"(1,[],{"name":7,"ts":"x","args":[]})").error(),
            "it has no load of https://shop.test/");
}

}  // namespace
}  // namespace reprise
