#include "proxy/whatif/page_requests.h"

#include <gmock/gmock.h>

#include "tests/proxy/whatif/recorded_site.h"

namespace reprise::whatif {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class PageRequestsTest : public testing::Test {
 protected:
  PageRequests read(std::uint32_t session = 1, const std::vector<std::string>& texts = {}) {
    return PageRequests::read(site_.reader(), session, interventions_of(texts));
  }
  static std::string document_of(const PageRequests& requests, std::size_t number) {
    auto const* const document = requests.document_of(requests.all().at(number));
    return document == nullptr ? "none" : document->url;
  }
  RecordedSite site_;
};

TEST_F(PageRequestsTest, DocumentIsThatOfTheReferer) {
  site_.add(a_get("https://a.test/one", "text/html"));
  site_.add(a_get("https://a.test/two", "text/html"));
  site_.add(a_get("https://b.test/x.js", "text/javascript", "https://a.test/one#part"));
  EXPECT_EQ(document_of(read(), 2), "https://a.test/one");
}

TEST_F(PageRequestsTest, DocumentIsFoundThroughStyleSheetsAndScripts) {
  site_.add(a_get(kPage, "text/html"));
  site_.add(a_get("https://a.test/other", "text/html"));
  site_.add(a_get("https://a.test/a.css", "text/css", kPage));
  site_.add(a_get("https://a.test/b.css", "text/css", "https://a.test/a.css"));
  site_.add(a_get("https://a.test/f.woff2", "font/woff2", "https://a.test/b.css"));
  EXPECT_EQ(document_of(read(), 4), kPage);
}

TEST_F(PageRequestsTest, StyleSheetsThatNameEachOtherEnd) {
  site_.add(a_get(kPage, "text/html"));
  site_.add(a_get("https://a.test/a.css", "text/css", "https://a.test/b.css"));
  site_.add(a_get("https://a.test/b.css", "text/css", "https://a.test/a.css"));
  EXPECT_EQ(document_of(read(), 2), kPage);
}

TEST_F(PageRequestsTest, DocumentOfAnOriginIsItsLastBefore) {
  site_.add(a_get("https://a.test/one", "text/html"));
  site_.add(a_get("https://a.test/two", "text/html"));
  site_.add(a_get("https://b.test/frame", "text/html", "https://a.test/two"));
  site_.add(a_get("https://c.test/x.png", "image/png", "https://a.test/"));
  site_.add(a_get("https://a.test/three", "text/html"));
  EXPECT_EQ(document_of(read(), 3), "https://a.test/two");
}

TEST_F(PageRequestsTest, DocumentOfAnOriginIsNotThatOfALongerName) {
  site_.add(a_get("https://a.test/one", "text/html"));
  site_.add(a_get("https://a.test.evil.test/", "text/html"));
  auto odd = a_get("https://a.test/p", "text/html");
  odd.request.port = 8443;
  site_.add(odd);
  site_.add(a_get("https://c.test/x.png", "image/png", "https://a.test"));
  site_.add(a_get("https://c.test/y.png", "image/png", "https://a.test:8443/gone"));
  auto const requests = read();
  EXPECT_EQ(document_of(requests, 3), "https://a.test/one");
  EXPECT_EQ(document_of(requests, 4), "https://a.test:8443/p");
}

TEST_F(PageRequestsTest, DocumentIsFoundWhereItsUrlFirstHadAnotherAnswer) {
  for (std::uint16_t const status : {302, 403}) {
    RecordedSite site;
    site.begin_session({kPage});
    site.add(a_get("https://a.test/before", "text/html"));
    auto other = a_get(kPage, "text/html");
    other.response.status = status;
    site.add(status == 302 ? with(other, "Location", kPage) : other);
    site.add(a_get(kPage, "text/html"));
    site.add(a_get("https://b.test/frame", "text/html", kPage));
    site.add(a_get("https://a.test/x.js", "text/javascript", kPage));
    auto const requests = PageRequests::read(site.reader(), 1, {});
    EXPECT_EQ(requests.document_of(requests.all().at(4)), &requests.all().at(2)) << status;
    // The text of a challenge is a document, too.
    EXPECT_EQ(requests.page(), &requests.all().at(status == 302 ? 2 : 1)) << status;
  }
}

TEST_F(PageRequestsTest, DocumentThatWasOpenedTwiceIsTheLastBefore) {
  for (int i = 0; i < 2; ++i) {
    site_.add(a_get(kPage, "text/html"));
    site_.add(a_get("https://a.test/x.js", "text/javascript", kPage));
  }
  auto const requests = read();
  EXPECT_EQ(requests.document_of(requests.all().at(1)), &requests.all().at(0));
  EXPECT_EQ(requests.document_of(requests.all().at(3)), &requests.all().at(2));
}

TEST_F(PageRequestsTest, DocumentOfWhatAStyleSheetWithoutARefererNamesIsOfItsOrigin) {
  site_.add(a_get(kPage, "text/html"));
  site_.add(a_get("https://b.test/frame", "text/html", kPage));
  site_.add(a_get("https://a.test/x.css", "text/css"));
  site_.add(a_get("https://a.test/f.woff2", "font/woff2", "https://a.test/x.css"));
  EXPECT_EQ(document_of(read(), 3), kPage);
}

TEST_F(PageRequestsTest, DocumentWithoutARefererIsTheLastBefore) {
  site_.add(a_get("https://a.test/early.js", "text/javascript"));
  site_.add(a_get("https://a.test/one", "text/html"));
  site_.add(a_get("https://a.test/two", "text/html"));
  site_.add(a_get("https://a.test/x.js", "text/javascript"));
  site_.add(a_get("https://a.test/y.js", "text/javascript", "https://unknown.test/"));
  site_.add(a_get("https://a.test/z.js", "text/javascript", "no URL at all"));
  auto const requests = read();
  EXPECT_EQ(document_of(requests, 0), "none");
  for (std::size_t const number : {3, 4, 5}) {
    EXPECT_EQ(document_of(requests, number), "https://a.test/two") << number;
  }
}

TEST_F(PageRequestsTest, PageIsTheDocumentOfTheStartUrl) {
  site_.begin_session({"https://a.test/two#top"});
  site_.add(a_get("https://a.test/one", "text/html"));
  site_.add(a_get("https://a.test/two", "text/html"));
  EXPECT_EQ(read().page()->url, "https://a.test/two");
}

TEST_F(PageRequestsTest, PageIsTheFirstDocumentIfItsStartIsRedirectedOrUnknown) {
  site_.begin_session({"http://a.test/"});
  auto redirect = a_get("http://a.test/", "text/html");
  redirect.response.status = 301;
  site_.add(with(redirect, "Location", kPage));
  site_.add(a_get("https://a.test/x.css", "text/css"));
  site_.add(a_get(kPage, "text/html"));
  EXPECT_EQ(read().page()->url, kPage);
  site_.reader();
  EXPECT_EQ(read(7).page(), nullptr);
}

TEST_F(PageRequestsTest, DocumentsAreWholeHtmlForWindowsAndFrames) {
  site_.add(asked_with(a_get("https://a.test/fetched", "text/html"), "Sec-Fetch-Dest", "empty"));
  auto cut = a_get("https://a.test/cut", "text/html");
  cut.outcome = Outcome::kCutByOrigin;
  site_.add(cut);
  auto posted = a_get("https://a.test/posted", "text/html");
  posted.request.method = "POST";
  site_.add(posted);
  site_.add(a_get("https://a.test/x.txt", "text/plain"));
  site_.add(asked_with(a_get("https://a.test/frame", "text/html"), "Sec-Fetch-Dest", "iframe"));
  // By a service worker, for a window.
  auto passed_on =
      asked_with(a_get("https://a.test/passed-on", "text/html"), "Sec-Fetch-Dest", "empty");
  passed_on = asked_with(passed_on, "Accept", "text/html");
  site_.add(asked_with(passed_on, "Sec-Fetch-Mode", "navigate"));
  auto const requests = read();
  std::vector<std::string> documents;
  for (const PageRequest& each : requests.all()) {
    if (each.is_document) documents.push_back(each.url);
  }
  EXPECT_THAT(documents, ElementsAre("https://a.test/frame", "https://a.test/passed-on"));
}

TEST_F(PageRequestsTest, KnowHowTheBrowserAsked) {
  auto const asked = [this](std::string_view type, std::string_view dest, std::string_view mode) {
    auto exchange = a_get("https://a.test/" + std::string(type), type);
    if (!dest.empty()) exchange = asked_with(exchange, "Sec-Fetch-Dest", dest);
    if (!mode.empty()) exchange = asked_with(exchange, "Sec-Fetch-Mode", mode);
    site_.add(asked_with(exchange, "Accept", "text/html,*/*"));
  };
  asked("image/png", "", "");
  asked("font/woff2", "", "");
  asked("text/css", "", "");
  asked("text/javascript", "", "");
  asked("video/mp4", "", "");
  asked("application/json", "", "");
  asked("text/javascript", "Empty", "cors");
  asked("text/plain", "SCRIPT", "no-cors");
  asked("text/javascript", "script", "cors");
  asked("text/html", "empty", "navigate");
  std::vector<std::string> kinds;
  for (const PageRequest& each : read().all()) kinds.push_back(each.as + (each.cors ? "+" : ""));
  // An "empty" destination is a fetch; other names are in lower case.
  EXPECT_THAT(kinds, ElementsAre("image", "font+", "style", "script", "video", "fetch+", "fetch+",
                                 "script", "script+", "document"));
}

TEST_F(PageRequestsTest, AreThoseOfTheSessionAndSelectedByItsNumbers) {
  site_.begin_session();
  site_.add(a_get("https://a.test/1", "text/html"));
  site_.begin_session();
  site_.add(a_get("https://a.test/2", "text/html"));
  site_.add(a_get("https://b.test/3", "text/css"));
  auto const requests = read(2, {"number=2: drop", "type=style: drop", "host=*.test: drop"});
  ASSERT_EQ(requests.all().size(), 2);
  EXPECT_THAT(requests.all()[0].by, ElementsAre(0, 2));
  EXPECT_THAT(requests.all()[1].by, ElementsAre(1, 2));
  EXPECT_EQ(requests.all()[0].number, 2);
  EXPECT_EQ(requests.all()[1].number, 3);
  EXPECT_THAT(read(3).all(), IsEmpty());
}

TEST_F(PageRequestsTest, LeaveOutWhatIsDamaged) {
  site_.add(a_get("https://a.test/1", "text/html"));
  site_.add(a_get("https://damaged.test/2", "text/css"));
  site_.add(a_get("https://a.test/3", "text/css"));
  site_.damage("damaged.test");
  auto const requests = read(1, {"number=3: drop"});
  ASSERT_EQ(requests.all().size(), 2);
  EXPECT_EQ(requests.all()[1].url, "https://a.test/3");
}

}  // namespace
}  // namespace reprise::whatif
