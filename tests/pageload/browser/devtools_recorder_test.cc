#include "pageload/browser/devtools_recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "base/http/digest.h"

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Tells a recorder what happened. Times are seconds of the browser's clock.
class Recorded : public testing::Test {
 protected:
  void event(std::string_view method, std::string_view params, std::string_view session = "main") {
    recorder_.on_event(session, method, boost::json::parse(params).as_object());
  }
  void sends(const std::string& id, const std::string& url, double at_s,
             const std::string& type = "Image", const std::string& more = "",
             std::string_view session = "main") {
    event("Network.requestWillBeSent",
          R"({"requestId":")" + id + R"(","frameId":"F","loaderId":"L","type":")" + type +
              R"(","timestamp":)" + std::to_string(at_s) + R"(,"request":{"url":")" + url +
              R"(","method":"GET"})" + more + "}",
          session);
  }
  void answers(const std::string& id, double at_s, int status = 200, const std::string& more = "",
               std::string_view session = "main") {
    event("Network.responseReceived",
          R"({"requestId":")" + id + R"(","timestamp":)" + std::to_string(at_s) +
              R"(,"response":{"status":)" + std::to_string(status) + more + "}}",
          session);
  }
  void finishes(const std::string& id, double at_s, int bytes = 100,
                std::string_view session = "main") {
    event("Network.loadingFinished",
          R"({"requestId":")" + id + R"(","timestamp":)" + std::to_string(at_s) +
              R"(,"encodedDataLength":)" + std::to_string(bytes) + "}",
          session);
  }
  void shows(const std::string& url, const std::string& loader = "L") {
    event("Page.frameNavigated",
          R"({"frame":{"id":"F","loaderId":")" + loader + R"(","url":")" + url + R"("}})");
  }
  /// A document at http://a.test/ that was asked for at 10 s and fires its load event at 10.5 s.
  void loads_a_document() {
    sends("L", "http://a.test/", 10, "Document");
    answers("L", 10.1);
    shows("http://a.test/");
    finishes("L", 10.2);
    event("Page.domContentEventFired", R"({"timestamp":10.4})");
    event("Page.loadEventFired", R"({"timestamp":10.5})");
  }
  std::vector<std::string> urls() const {
    std::vector<std::string> out;
    for (auto const& request : recorder_.page_load().requests) out.push_back(request.url);
    return out;
  }

  DevtoolsRecorder recorder_{"main", "F"};
};

TEST_F(Recorded, CountsTimesFromTheDocumentsRequest) {
  EXPECT_FALSE(recorder_.loaded());
  loads_a_document();
  event("Page.lifecycleEvent",
        R"({"frameId":"F","loaderId":"L","name":"firstContentfulPaint","timestamp":10.45})");
  EXPECT_TRUE(recorder_.loaded());
  EXPECT_EQ(recorder_.in_flight(), 0);
  auto const load = recorder_.page_load();
  EXPECT_NEAR(load.dom_content_loaded_ms.value_or(-1), 400, 1e-6);
  EXPECT_NEAR(load.load_event_ms.value_or(-1), 500, 1e-6);
  EXPECT_NEAR(load.first_contentful_paint_ms.value_or(-1), 450, 1e-6);
  EXPECT_NEAR(load.last_resource_ms.value_or(-1), 200, 1e-6);
  EXPECT_EQ(load.final_url, "http://a.test/");
  ASSERT_EQ(load.requests.size(), 1);
  EXPECT_NEAR(load.requests[0].response_ms, 100, 1e-6);
  EXPECT_EQ(load.requests[0].encoded_bytes, 100);
}

TEST_F(Recorded, TakesTheNetworksOwnTimeOfTheHead) {
  sends("L", "http://a.test/", 10, "Document");
  answers("L", 10.9, 200, R"(,"timing":{"requestTime":10.05,"receiveHeadersEnd":50})");
  finishes("L", 11);
  EXPECT_NEAR(recorder_.page_load().requests[0].response_ms, 100, 1e-6);
}

TEST_F(Recorded, TellsThePhasesOfARequestAndItsConnection) {
  sends("L", "http://a.test/", 10, "Document", R"(,"initiator":{"type":"other"})");
  answers("L", 10.9, 200,
          R"(,"connectionId":18,"timing":{"requestTime":10.05,"dnsStart":1,"dnsEnd":2,)"
          R"("connectStart":2,"sslStart":-1,"connectEnd":7,"sendStart":8,"sendEnd":9,)"
          R"("receiveHeadersStart":40,"receiveHeadersEnd":50})");
  finishes("L", 11);
  sends("1", "http://a.test/1", 11, "Image", R"(,"initiator":{"url":"http://a.test/"})");
  sends(
      "2", "http://a.test/2", 11, "Fetch",
      R"(,"initiator":{"stack":{"callFrames":[],"parent":{"callFrames":[{"url":"http://a.test/j"}]}}})");
  sends("3", "http://a.test/3", 11, "Script",
        R"(,"initiator":{"stack":{"callFrames":[{"url":""},{"url":"r557"},{"url":"blob:k"}]}})");
  event("Network.resourceChangedPriority", R"({"requestId":"2","newPriority":"High"})");
  auto const requests = recorder_.page_load().requests;
  ASSERT_EQ(requests.size(), 4);
  EXPECT_EQ(requests[0].connection, 18);
  ASSERT_TRUE(requests[0].timing.has_value());
  EXPECT_NEAR(requests[0].timing->dns_start_ms, 51, 1e-6);
  EXPECT_EQ(requests[0].timing->tls_start_ms, -1);
  EXPECT_NEAR(requests[0].timing->first_byte_ms, 90, 1e-6);
  EXPECT_EQ(requests[0].initiator, "");
  EXPECT_EQ(requests[1].initiator, "http://a.test/");
  EXPECT_FALSE(requests[1].timing.has_value());
  EXPECT_EQ(requests[2].initiator, "http://a.test/j");
  EXPECT_EQ(requests[3].initiator, "blob:k") << "scripts can be named otherwise";
  EXPECT_EQ(requests[2].priority, "High");
}

TEST_F(Recorded, TakesPaintsAndShiftsOfThePageFromTheBrowser) {
  sends("L", "http://a.test/", 10, "Document", R"(,"wallTime":1000010)");
  auto const timeline = [&](const std::string& event_json) {
    event("PerformanceTimeline.timelineEventAdded", R"({"event":)" + event_json + "}");
  };
  timeline(R"({"frameId":"F","type":"largest-contentful-paint","time":1000010.05})");
  shows("http://a.test/");
  EXPECT_EQ(recorder_.page_load().largest_contentful_paint_ms, std::nullopt)
      << "that was about:blank";
  timeline(R"({"frameId":"F","type":"largest-contentful-paint","time":1000010.2,)"
           R"("lcpDetails":{"size":5,"url":"http://a.test/hero.png"}})");
  EXPECT_EQ(recorder_.page_load().largest_contentful_paint_url, "http://a.test/hero.png");
  timeline(R"({"frameId":"F","type":"largest-contentful-paint","time":1000010.25,)"
           R"("lcpDetails":{"size":9}})");
  timeline(R"({"frameId":"other","type":"largest-contentful-paint","time":1000010.75})");
  for (auto const* const details : {R"({"value":0.25})", R"({"value":9,"hadRecentInput":true})"}) {
    timeline(R"({"frameId":"F","type":"layout-shift","time":1000010.5,"layoutShiftDetails":)" +
             std::string(details) + "}");
  }
  EXPECT_NEAR(recorder_.page_load().largest_contentful_paint_ms.value_or(-1), 250, 1e-6);
  EXPECT_EQ(recorder_.page_load().largest_contentful_paint_url, "") << "text";
  EXPECT_EQ(recorder_.page_load().cumulative_layout_shift, 0.25);
}

TEST_F(Recorded, MakesEachHopOfARedirectARequest) {
  sends("L", "http://a.test/", 10, "Document");
  sends("L", "http://a.test/2", 10.1, "Document",
        R"(,"redirectResponse":{"status":302,"encodedDataLength":70})");
  sends("L", "http://a.test/3", 10.2, "Document", R"(,"redirectResponse":{"status":301})");
  EXPECT_EQ(recorder_.in_flight(), 1);
  answers("L", 10.3);
  finishes("L", 10.4);
  EXPECT_EQ(recorder_.in_flight(), 0);
  auto const requests = recorder_.page_load().requests;
  ASSERT_EQ(requests.size(), 3);
  EXPECT_EQ(requests[0].status, 302);
  EXPECT_EQ(requests[0].encoded_bytes, 70);
  EXPECT_NEAR(requests[0].end_ms, 100, 1e-6);
  EXPECT_EQ(requests[1].status, 301);
  EXPECT_EQ(requests[2].status, 200);
  ASSERT_EQ(recorder_.bodies().size(), 1);
  EXPECT_EQ(recorder_.bodies()[0].index, 2);
}

TEST_F(Recorded, ShowsTheStatusOnTheWireHopByHop) {
  // Network details may arrive before their event, and some hops have none.
  event("Network.responseReceivedExtraInfo", R"({"requestId":"R","statusCode":302})");
  sends("R", "http://a.test/hsts", 10);
  sends("R", "https://a.test/hop", 10.1, "Image", R"(,"redirectResponse":{"status":307})");
  sends("R", "https://a.test/end", 10.2, "Image",
        R"(,"redirectResponse":{"status":302},"redirectHasExtraInfo":true)");
  event("Network.responseReceived",
        R"({"requestId":"R","timestamp":10.3,"hasExtraInfo":true,"response":{"status":200}})");
  event("Network.responseReceivedExtraInfo", R"({"requestId":"R","statusCode":304})");
  finishes("R", 10.4);
  auto const requests = recorder_.page_load().requests;
  ASSERT_EQ(requests.size(), 3);
  EXPECT_EQ(requests[0].status, 307);
  EXPECT_EQ(requests[1].status, 302);
  EXPECT_EQ(requests[2].status, 304);
}

TEST_F(Recorded, LeavesOutWhatReachesNoNetwork) {
  sends("1", "data:image/png;base64,AAAA", 10);
  sends("2", "blob:http://a.test/1-2-3", 10);
  sends("3", "https://a.test/", 10);
  finishes("1", 11);
  EXPECT_THAT(urls(), ElementsAre("https://a.test/"));
  EXPECT_EQ(recorder_.in_flight(), 1);
}

TEST_F(Recorded, DoesNotWaitForWhatMayStayOpen) {
  sends("1", "http://a.test/events", 10, "EventSource");
  sends("2", "http://a.test/film", 10, "Media");
  event("Network.webSocketCreated", R"({"requestId":"3","url":"ws://a.test/"})");
  EXPECT_EQ(recorder_.in_flight(), 0);
  sends("4", "http://a.test/long-poll", 10, "Fetch");
  EXPECT_EQ(recorder_.in_flight(), 1);
  EXPECT_EQ(recorder_.first_in_flight(), "http://a.test/long-poll");
  finishes("1", 11);
  EXPECT_EQ(recorder_.in_flight(), 1);
  EXPECT_EQ(urls().size(), 4);
}

// Chromium does not tell the end of a fetch() whose body no script reads.
TEST_F(Recorded, KnowsWhatMayHaveEndedUnread) {
  sends("1", "http://a.test/x", 10, "Fetch");
  EXPECT_EQ(recorder_.unread(), 0);
  auto const before = recorder_.activity();
  answers("1", 11);
  EXPECT_GT(recorder_.activity(), before);
  EXPECT_EQ(recorder_.unread(), 1);
  EXPECT_EQ(recorder_.in_flight(), 1);
  finishes("1", 12);
  EXPECT_EQ(recorder_.unread(), 0);
  EXPECT_EQ(recorder_.in_flight(), 0);
  sends("2", "http://a.test/image", 10, "Image");
  answers("2", 11);
  EXPECT_EQ(recorder_.unread(), 0);
}

TEST_F(Recorded, KeepsAWebSocketsStory) {
  loads_a_document();
  event("Network.webSocketCreated", R"({"requestId":"W","url":"wss://a.test/"})");
  event("Network.webSocketWillSendHandshakeRequest", R"({"requestId":"W","timestamp":10.6})");
  event("Network.webSocketHandshakeResponseReceived",
        R"({"requestId":"W","timestamp":10.7,"response":{"status":101}})");
  event("Network.webSocketClosed", R"({"requestId":"W","timestamp":10.8})");
  auto const request = recorder_.page_load().requests.back();
  EXPECT_EQ(request.status, 101);
  EXPECT_EQ(request.resource_type, "WebSocket");
  EXPECT_NEAR(request.start_ms, 600, 1e-6);
  EXPECT_NEAR(request.end_ms, 800, 1e-6);
}

TEST_F(Recorded, SaysHowARequestFailed) {
  sends("1", "http://a.test/", 10);
  event("Network.loadingFailed",
        R"({"requestId":"1","timestamp":11,"errorText":"net::ERR_CONNECTION_REFUSED"})");
  EXPECT_EQ(recorder_.in_flight(), 0);
  EXPECT_EQ(recorder_.page_load().requests[0].failure, "net::ERR_CONNECTION_REFUSED");
  EXPECT_EQ(recorder_.page_load().requests[0].status, 0);
  EXPECT_THAT(recorder_.bodies(), IsEmpty());
}

TEST_F(Recorded, MarksWhatTheBrowsersOwnCacheGave) {
  sends("1", "http://a.test/memory", 10);
  event("Network.requestServedFromCache", R"({"requestId":"1"})");
  sends("2", "http://a.test/disk", 10);
  answers("2", 10.1, 200, R"(,"fromDiskCache":true)");
  sends("3", "http://a.test/network", 10);
  answers("3", 10.1, 200, R"(,"protocol":"h2","remoteIPAddress":"[::1]","remotePort":8443)");
  auto const requests = recorder_.page_load().requests;
  EXPECT_TRUE(requests[0].from_cache);
  EXPECT_TRUE(requests[1].from_cache);
  EXPECT_FALSE(requests[2].from_cache);
  EXPECT_EQ(requests[2].protocol, "h2");
  EXPECT_EQ(requests[2].remote_address, "[::1]:8443");
}

// The prefetch and the request that it is for have the same flag.
TEST_F(Recorded, TakesAPrefetchForARequestOnTheNetwork) {
  sends("1", "http://a.test/next", 10, "Prefetch");
  answers("1", 10.1, 200, R"(,"fromPrefetchCache":true,"connectionId":7)");
  sends("2", "http://a.test/next", 10, "Document");
  answers("2", 10.1, 200, R"(,"fromPrefetchCache":true)");
  auto const requests = recorder_.page_load().requests;
  EXPECT_FALSE(requests[0].from_cache);
  EXPECT_EQ(requests[0].connection, 7);
  EXPECT_TRUE(requests[1].from_cache);
}

TEST_F(Recorded, FollowsARequestAcrossSessionsOfAFrame) {
  sends("D", "http://b.test/frame", 10, "Document");
  sends("D", "http://b.test/frame", 10, "Document", "", "child");  // told twice
  answers("D", 10.1, 200, "", "child");
  finishes("D", 10.2, 100, "child");
  EXPECT_THAT(urls(), ElementsAre("http://b.test/frame"));
  ASSERT_EQ(recorder_.bodies().size(), 1);
  EXPECT_EQ(recorder_.bodies()[0].session, "child");
}

TEST_F(Recorded, EndsTheRequestsOfATargetThatWentAway) {
  sends("1", "http://a.test/", 10, "Fetch", "", "worker");
  event("Target.detachedFromTarget", R"({"sessionId":"worker"})");
  EXPECT_EQ(recorder_.in_flight(), 0);
  EXPECT_THAT(recorder_.page_load().requests[0].failure, HasSubstr("went away"));
}

// Details such as a request's headers can be events of the page.
TEST_F(Recorded, EndsTheRequestsOfAWorkerWhosePageReportedTheirDetails) {
  sends("1", "http://a.test/", 10, "Fetch", "", "worker");
  event("Network.requestWillBeSentExtraInfo", R"({"requestId":"1"})");
  event("Network.resourceChangedPriority", R"({"requestId":"1","newPriority":"High"})");
  event("Target.detachedFromTarget", R"({"sessionId":"worker"})");
  EXPECT_EQ(recorder_.in_flight(), 0);
}

TEST_F(Recorded, CountsTheLoadEventsOfAllItsPages) {
  loads_a_document();
  EXPECT_EQ(recorder_.load_events(), 1);
  EXPECT_EQ(recorder_.shown_url(), "http://a.test/");
  shows("http://a.test/next", "M");
  EXPECT_EQ(recorder_.load_events(), 1);
  event("Page.loadEventFired", R"({"timestamp":10.9})");
  EXPECT_EQ(recorder_.load_events(), 2);
  EXPECT_EQ(recorder_.shown_url(), "http://a.test/next");
}

TEST_F(Recorded, EndsTheRequestsOfAPageThatWasLeft) {
  loads_a_document();
  sends("I", "http://a.test/slow", 10.6);
  sends("M", "http://a.test/next", 10.7, "Document", R"(,"x":0)");
  event("Network.requestWillBeSent",
        R"({"requestId":"M2","frameId":"F","loaderId":"M2","type":"Document","timestamp":10.7,
            "request":{"url":"http://a.test/next2","method":"GET"}})");
  shows("http://a.test/next2", "M2");
  EXPECT_FALSE(recorder_.loaded());
  EXPECT_EQ(recorder_.in_flight(), 1);
  // It was on its way all the same, and ends well.
  finishes("I", 10.9);
  EXPECT_EQ(recorder_.in_flight(), 1);
  auto const requests = recorder_.page_load().requests;
  EXPECT_EQ(requests[1].failure, "");
  EXPECT_NEAR(requests[1].end_ms, 900, 1e-6);
}

TEST_F(Recorded, EndsTheRequestsOfTheFramesOfAPageThatWasLeft) {
  loads_a_document();
  event("Network.requestWillBeSent",
        R"({"requestId":"S","frameId":"G","loaderId":"G","type":"Image","timestamp":10.6,
            "request":{"url":"http://a.test/slow","method":"GET"}})");
  event("Network.requestWillBeSent",
        R"({"requestId":"M2","frameId":"F","loaderId":"M2","type":"Document","timestamp":10.7,
            "request":{"url":"http://a.test/next","method":"GET"}})");
  EXPECT_EQ(recorder_.in_flight(), 2);
  shows("http://a.test/next", "M2");
  EXPECT_EQ(recorder_.in_flight(), 1);
}

TEST_F(Recorded, KnowsTheErrorPageAndWhy) {
  loads_a_document();
  event("Network.requestWillBeSent",
        R"({"requestId":"M","frameId":"F","loaderId":"M","type":"Document","timestamp":10.7,
            "request":{"url":"http://b.test/","method":"GET"}})");
  event("Network.loadingFailed",
        R"({"requestId":"M","timestamp":11,"errorText":"net::ERR_NAME_NOT_RESOLVED"})");
  event("Network.dataReceived", R"({"requestId":"M","dataLength":5,"encodedDataLength":250000})");
  event("Page.frameNavigated", R"({"frame":{"id":"F","loaderId":"M",
        "url":"chrome-error://chromewebdata/","unreachableUrl":"http://b.test/"}})");
  EXPECT_EQ(recorder_.unreachable_url(), "http://b.test/");
  EXPECT_EQ(recorder_.document_failure(), "net::ERR_NAME_NOT_RESOLVED");
  EXPECT_EQ(recorder_.page_load().requests.back().encoded_bytes, 0);
}

TEST_F(Recorded, FindsThePagesLatestDocumentAmongItsOtherRequests) {
  EXPECT_EQ(recorder_.document_failure(), "");
  sends("L", "http://a.test/", 10, "Document");
  sends("L", "http://a.test/b", 10.1, "Document", R"(,"redirectResponse":{"status":302})");
  event("Network.requestWillBeSent",
        R"({"requestId":"G","frameId":"G","loaderId":"G","type":"Document","timestamp":10.2,
            "request":{"url":"http://b.test/","method":"GET"}})");
  sends("1", "http://a.test/1", 10.3);
  for (auto const* const id : {"1", "G"}) {
    event("Network.loadingFailed", R"({"requestId":")" + std::string(id) +
                                       R"(","timestamp":11,"errorText":"net::ERR_FAILED"})");
  }
  EXPECT_EQ(recorder_.document_failure(), "");
  event("Network.loadingFailed",
        R"({"requestId":"L","timestamp":11,"errorText":"net::ERR_CONNECTION_RESET"})");
  // The page is full of requests, and asks after each event.
  for (std::size_t i = 4; i < DevtoolsRecorder::kRequestsMax; ++i) {
    sends("r" + std::to_string(i), "http://a.test/", 12);
    if (recorder_.document_failure() != "net::ERR_CONNECTION_RESET") FAIL() << i;
  }
}

TEST_F(Recorded, IgnoresTheLoadEventOfTheEmptyPageBefore) {
  event("Page.loadEventFired", R"({"timestamp":9})");
  EXPECT_FALSE(recorder_.loaded());
  EXPECT_FALSE(recorder_.committed());
}

TEST_F(Recorded, IgnoresFramesWhenItTellsOfThePage) {
  loads_a_document();
  event("Page.frameNavigated",
        R"({"frame":{"id":"G","parentId":"F","loaderId":"G","url":"http://b.test/"}})", "child");
  event("Page.loadEventFired", R"({"timestamp":20})", "child");
  EXPECT_EQ(recorder_.page_load().final_url, "http://a.test/");
  EXPECT_NEAR(recorder_.page_load().load_event_ms.value_or(-1), 500, 1e-6);
}

TEST_F(Recorded, HashesABodyThatWasPosted) {
  event("Network.requestWillBeSent",
        R"({"requestId":"1","type":"Fetch","timestamp":10,"request":{"url":"http://a.test/",
            "method":"POST","hasPostData":true,"postData":"text that lost bytes",
            "postDataEntries":[{"bytes":"aGVs"},{"bytes":"bG8="}]}})");
  EXPECT_EQ(recorder_.page_load().requests[0].request_body_sha256, sha256_hex("hello"));
  EXPECT_THAT(recorder_.request_bodies(), IsEmpty());
}

TEST_F(Recorded, NamesPostedBodiesThatTheEventLeftOut) {
  event("Network.requestWillBeSent",
        R"({"requestId":"1","type":"Fetch","timestamp":10,"request":{"url":"http://a.test/",
            "method":"POST","hasPostData":true,"postDataEntries":[{}]}})");
  ASSERT_EQ(recorder_.request_bodies().size(), 1);
  EXPECT_EQ(recorder_.request_bodies()[0].request_id, "1");
}

TEST_F(Recorded, NamesNoBodyWhereThereIsNone) {
  sends("1", "http://a.test/204", 10);
  answers("1", 10.1, 204);
  finishes("1", 10.2);
  sends("2", "http://a.test/preflight", 10, "Other", R"(,"initiator":{"type":"preflight"})");
  answers("2", 10.1, 200);
  finishes("2", 10.2);
  EXPECT_THAT(recorder_.bodies(), IsEmpty());
  EXPECT_EQ(recorder_.page_load().requests[1].resource_type, "Preflight");
}

TEST_F(Recorded, CollectsWhatTheConsoleShowsInRed) {
  event("Runtime.consoleAPICalled",
        R"({"type":"error","args":[{"type":"string","value":"bad"},{"type":"number","value":7},
            {"type":"object","description":"Object"},{"type":"number","unserializableValue":"NaN"},
            {"type":"undefined"}]})");
  event("Runtime.consoleAPICalled", R"({"type":"log","args":[{"value":"fine"}]})");
  event("Runtime.exceptionThrown",
        R"({"exceptionDetails":{"text":"Uncaught","lineNumber":4,"url":"http://a.test/x.js",
            "exception":{"type":"object","description":"Error: late"}}})");
  event("Log.entryAdded", R"({"entry":{"level":"error","text":"Failed to load resource",
            "url":"http://a.test/y"}})");
  event("Log.entryAdded", R"({"entry":{"level":"warning","text":"hm"}})");
  EXPECT_THAT(
      recorder_.page_load().console_errors,
      ElementsAre("bad 7 Object NaN undefined", "Uncaught Error: late (http://a.test/x.js:5)",
                  "Failed to load resource (http://a.test/y)"));
}

TEST_F(Recorded, KeepsNoMoreConsoleErrorsThanItsLimit) {
  std::string const large(DevtoolsRecorder::kConsoleErrorBytesMax + 10, 'x');
  for (std::size_t i = 0; i < DevtoolsRecorder::kConsoleErrorsMax + 5; ++i) {
    event("Runtime.consoleAPICalled", R"({"type":"error","args":[{"value":")" + large + R"("}]})");
  }
  auto const load = recorder_.page_load();
  EXPECT_EQ(load.console_errors.size(), DevtoolsRecorder::kConsoleErrorsMax);
  EXPECT_EQ(load.console_errors[0].size(), DevtoolsRecorder::kConsoleErrorBytesMax + 3);
  EXPECT_THAT(load.remarks, ElementsAre(HasSubstr("5 further console errors")));
}

TEST_F(Recorded, KeepsNoMoreRequestsThanItsLimitAndCountsTheRest) {
  for (std::size_t i = 0; i < DevtoolsRecorder::kRequestsMax + 3; ++i) {
    sends("r" + std::to_string(i), "http://a.test/", 10);
  }
  // What is not kept is not waited for either.
  EXPECT_EQ(recorder_.in_flight(), DevtoolsRecorder::kRequestsMax);
  finishes("r" + std::to_string(DevtoolsRecorder::kRequestsMax + 1), 11);
  EXPECT_EQ(recorder_.in_flight(), DevtoolsRecorder::kRequestsMax);
  auto const load = recorder_.page_load();
  EXPECT_EQ(load.requests.size(), DevtoolsRecorder::kRequestsMax);
  EXPECT_EQ(load.requests_not_kept, 3);
  EXPECT_THAT(load.remarks, ElementsAre(HasSubstr("3 further requests")));
}

TEST_F(Recorded, KeepsNoMoreTextThanItsLimit) {
  std::string const long_url = "http://a.test/" + std::string(32 << 20, 'u');
  for (int i = 0; i < 9; ++i) sends("r" + std::to_string(i), long_url, 10);
  EXPECT_EQ(recorder_.page_load().requests.size(), 7);
  EXPECT_EQ(recorder_.page_load().requests_not_kept, 2);
}

TEST_F(Recorded, TakesEventsWithoutAnyOfTheirFields) {
  for (auto const method :
       {"Network.requestWillBeSent", "Network.responseReceived", "Network.loadingFinished",
        "Network.loadingFailed", "Network.dataReceived", "Network.webSocketClosed",
        "Network.responseReceivedExtraInfo", "Page.frameNavigated", "Page.loadEventFired",
        "Page.frameDetached", "Target.detachedFromTarget", "Runtime.exceptionThrown",
        "Log.entryAdded", "Runtime.consoleAPICalled", "Nonsense"}) {
    event(method, "{}");
  }
  EXPECT_THAT(urls(), IsEmpty());
  EXPECT_FALSE(recorder_.crashed());
  event("Inspector.targetCrashed", "{}");
  EXPECT_TRUE(recorder_.crashed());
}

}  // namespace
}  // namespace reprise
