#include "pageload/browser/bidi_recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

/// Tells a recorder what happened on the page "P". Times are ms of the browser's clock.
class BidiRecorded : public testing::Test {
 protected:
  void event(std::string_view method, const std::string& params) {
    recorder_.on_event(method, boost::json::parse(params).as_object());
  }
  void sends(const std::string& id, const std::string& url, double at_ms,
             const std::string& more = R"(,"destination":"image")",
             const std::string& context = "P", const std::string& navigation = "null") {
    event("network.beforeRequestSent", R"({"context":")" + context + R"(","navigation":)" +
                                           navigation + R"(,"request":{"request":")" + id +
                                           R"(","url":")" + url +
                                           R"(","method":"GET","timings":{"requestTime":)" +
                                           std::to_string(at_ms) + "}" + more + "}}");
  }
  void answers(const std::string& id, double at_ms, const std::string& more = R"("status":200)",
               std::string_view which = "network.responseCompleted") {
    event(which, R"({"context":"P","timestamp":)" + std::to_string(at_ms) +
                     R"(,"request":{"request":")" + id + R"("},"response":{)" + more + "}}");
  }
  void on_page(std::string_view what, double at_ms, const std::string& url = "http://a.test/",
               const std::string& navigation = "N") {
    event("browsingContext." + std::string(what), R"({"context":"P","navigation":")" + navigation +
                                                      R"(","timestamp":)" + std::to_string(at_ms) +
                                                      R"(,"url":")" + url + "\"}");
  }
  /// A document at http://a.test/ that was asked for at 1000 ms and fires its load event at 1500.
  void loads_a_document() {
    sends("1", "http://a.test/", 1000, R"(,"destination":"document")", "P", R"("N")");
    answers("1", 1200);
    on_page("navigationCommitted", 1210);
    on_page("domContentLoaded", 1400);
    on_page("load", 1500);
  }
  PageLoad load() const { return recorder_.page_load(); }

  BidiRecorder recorder_{"P"};
};

TEST_F(BidiRecorded, TimesCountFromTheFirstDocument) {
  loads_a_document();
  EXPECT_TRUE(recorder_.loaded());
  EXPECT_NEAR(load().dom_content_loaded_ms.value_or(-1), 400, 0.01);
  EXPECT_NEAR(load().load_event_ms.value_or(-1), 500, 0.01);
  EXPECT_NEAR(load().last_resource_ms.value_or(-1), 200, 0.01);
  EXPECT_EQ(load().final_url, "http://a.test/");
  EXPECT_EQ(load().requests[0].resource_type, "Document");
}

TEST_F(BidiRecorded, HopsOfARedirectAreRequestsOfTheirOwn) {
  loads_a_document();
  sends("2", "http://a.test/from", 1600);
  answers("2", 1610, R"("status":302)");
  sends("2", "http://a.test/to", 1620);
  answers("2", 1630, R"("status":200,"bytesReceived":7,"protocol":"h2","mimeType":"image/png")");
  auto const page = load();
  ASSERT_EQ(page.requests.size(), 3);
  EXPECT_EQ(page.requests[1].status, 302);
  EXPECT_EQ(page.requests[2].url, "http://a.test/to");
  EXPECT_EQ(page.requests[2].encoded_bytes, 7);
  EXPECT_EQ(page.requests[2].protocol, "h2");
  EXPECT_EQ(page.requests[2].mime_type, "image/png");
  EXPECT_NEAR(page.requests[2].end_ms, 630, 0.01);
  ASSERT_EQ(recorder_.bodies().size(), 2);
  EXPECT_EQ(recorder_.bodies()[1].index, 2);
}

TEST_F(BidiRecorded, RequestsThatMayStayOpenAreNotWaitedFor) {
  loads_a_document();
  sends("2", "http://a.test/e", 1600,
        R"(,"headers":[{"name":"Accept","value":{"type":"string",)"
        R"("value":"text/event-stream"}}])");
  sends("3", "http://a.test/w", 1600,
        R"(,"headers":[{"name":"Upgrade","value":{"type":"string",)"
        R"("value":"websocket"}}])");
  EXPECT_EQ(recorder_.in_flight(), 0);
  EXPECT_EQ(load().requests[1].resource_type, "EventSource");
  EXPECT_EQ(load().requests[2].url, "ws://a.test/w");
  sends("4", "http://a.test/i", 1600);
  EXPECT_EQ(recorder_.first_in_flight(), "http://a.test/i");
}

TEST_F(BidiRecorded, FramesOfThePageAreTakenAndOtherPagesAreNot) {
  loads_a_document();
  event("browsingContext.contextCreated", R"({"context":"F","parent":"P"})");
  event("browsingContext.contextCreated", R"({"context":"X","parent":"Q"})");
  sends("2", "http://b.test/", 1600, R"(,"destination":"iframe")", "F", R"("M")");
  sends("3", "http://c.test/", 1600, "", "X");
  EXPECT_THAT(load().requests, ElementsAre(Field(&PageRequest::url, "http://a.test/"),
                                           Field(&PageRequest::url, "http://b.test/")));
  event("browsingContext.contextDestroyed", R"({"context":"F"})");
  EXPECT_EQ(recorder_.in_flight(), 0);
  EXPECT_THAT(load().requests[1].failure, HasSubstr("its frame went away"));
  EXPECT_FALSE(recorder_.crashed());
  event("browsingContext.contextDestroyed", R"({"context":"P"})");
  EXPECT_TRUE(recorder_.crashed());
}

TEST_F(BidiRecorded, AnObjectThatBecomesAFrameEndsWithItsLoadEvent) {
  loads_a_document();
  sends("2", "http://a.test/o.svg", 1600, R"(,"destination":"object")", "P", R"("N")");
  event("browsingContext.contextCreated", R"({"context":"O","parent":"P"})");
  EXPECT_EQ(recorder_.in_flight(), 1);
  auto const load_event = [](const std::string& url) {
    return R"({"context":"O","navigation":"M","timestamp":1700,"url":")" + url + "\"}";
  };
  event("browsingContext.load", load_event("http://a.test/other"));
  EXPECT_EQ(recorder_.in_flight(), 1);
  event("browsingContext.load", load_event("http://a.test/o.svg#part"));
  EXPECT_EQ(recorder_.in_flight(), 0);
  EXPECT_NEAR(load().requests[1].end_ms, 700, 0.01);
  EXPECT_EQ(load().requests[1].failure, "");
}

// As Firefox reports it: at once and complete, for the preload and for the page.
TEST_F(BidiRecorded, AStyleSheetFromMemoryIsOneRequest) {
  auto const cached = [this](const std::string& id, const std::string& context) {
    sends(id, "http://a.test/s.css", 1600, R"(,"destination":"style","initiatorType":null)",
          context);
    answers(id, 1600, R"("status":200,"fromCache":true)");
  };
  loads_a_document();
  cached("2", "P");
  cached("3", "P");
  ASSERT_EQ(load().requests.size(), 2);
  EXPECT_TRUE(load().requests[1].from_cache);
  EXPECT_EQ(recorder_.in_flight(), 0);
  event("browsingContext.contextCreated", R"({"context":"F","parent":"P"})");
  cached("4", "F");
  EXPECT_EQ(load().requests.size(), 3) << "another frame";
  sends("5", "http://a.test/", 1700, R"(,"destination":"document")", "P", R"("O")");
  cached("6", "P");
  EXPECT_EQ(load().requests.size(), 5) << "another document";
}

TEST_F(BidiRecorded, AStyleSheetThatIsRequestedTwiceIsTwoRequests) {
  loads_a_document();
  constexpr auto kLink = R"(,"destination":"style","initiatorType":"link")";
  sends("2", "http://a.test/s.css", 1600, kLink);
  answers("2", 1610, R"("status":200,"fromCache":true)");
  sends("3", "http://a.test/s.css", 1620, kLink);
  EXPECT_EQ(load().requests.size(), 3);
  EXPECT_EQ(recorder_.in_flight(), 1);
}

TEST_F(BidiRecorded, ADownloadIsNoPage) {
  constexpr auto kFile = "http://a.test/file";
  sends("1", kFile, 1000, R"(,"destination":"document")", "P", R"("N")");
  answers("1", 1200);
  event("browsingContext.downloadWillBegin", R"({"context":"F","navigation":"X"})");
  EXPECT_FALSE(recorder_.is_download());
  on_page("downloadWillBegin", 1210, kFile);
  EXPECT_TRUE(recorder_.is_download());
}

TEST_F(BidiRecorded, ADownloadThatAPageBeginsIsNotThePage) {
  loads_a_document();
  on_page("downloadWillBegin", 1600, "http://a.test/file", "O");
  EXPECT_FALSE(recorder_.is_download());
  EXPECT_TRUE(recorder_.loaded());
}

TEST_F(BidiRecorded, APageThatGoesOnIsNotLoadedUntilTheNextOneIs) {
  loads_a_document();
  sends("2", "http://a.test/next", 1600, R"(,"destination":"document")", "P", R"("O")");
  on_page("navigationCommitted", 1700, "http://a.test/next", "O");
  EXPECT_FALSE(recorder_.loaded());
  EXPECT_EQ(load().final_url, "http://a.test/next");
  EXPECT_EQ(recorder_.in_flight(), 1);
  on_page("load", 1800, "http://a.test/next", "O");
  EXPECT_NEAR(load().load_event_ms.value_or(-1), 800, 0.01);
}

TEST_F(BidiRecorded, ErrorsAreTold) {
  loads_a_document();
  sends("2", "http://a.test/i", 1600);
  event("network.fetchError", R"({"context":"P","timestamp":1700,"errorText":"NS_ERROR_X",)"
                              R"("request":{"request":"2"}})");
  EXPECT_EQ(load().requests[1].failure, "NS_ERROR_X");
  EXPECT_EQ(load().requests[1].status, 0);
  event("log.entryAdded",
        R"({"level":"error","type":"javascript","text":"ReferenceError: x",)"
        R"("stackTrace":{"callFrames":[{"url":"http://a.test/s","lineNumber":4}]}})");
  event("log.entryAdded", R"({"level":"info","type":"console","text":"nothing"})");
  EXPECT_THAT(load().console_errors, ElementsAre("ReferenceError: x (http://a.test/s:5)"));
}

TEST_F(BidiRecorded, EventsThatLackEverythingAreSurvived) {
  loads_a_document();
  for (auto const name : {"network.beforeRequestSent", "network.responseStarted",
                          "network.responseCompleted", "network.fetchError", "log.entryAdded",
                          "browsingContext.contextCreated", "browsingContext.load"}) {
    event(name, "{}");
    event(name, R"({"context":"P","request":7,"response":[],"timestamp":"x"})");
    event(name, R"({"context":"P","request":{"headers":[1,{}],"url":"http://a.test/"}})");
  }
  EXPECT_GE(load().requests.size(), 1);
}

}  // namespace
}  // namespace reprise
