// The drivers with the real browsers against an origin of our own. Without a browser these fail,
// and say what to install.

#include "pageload/browser/browser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <map>
#include <memory>
#include <ostream>

#include "base/http/digest.h"
#include "base/text/base64.h"
#include "tests/pageload/browser/loopback_server.h"
#include "tests/scratch_folder.h"

namespace reprise {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr auto kPng =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg"
    "gg==";

/// The page asks for something of every kind. PORT stands for the origin's port.
constexpr auto kPage = R"(<!doctype html><meta charset=utf-8><title>wait</title>
<link rel=stylesheet href=/style.css><script src=/script.js></script>
<p>text</p><img src=/redirect.png><img src=/missing.png>
<iframe src="http://localhost:PORT/frame"></iframe>
<script>
fetch('/post', {method: 'POST', body: new Uint8Array([0, 255, 128])});
fetch('http://localhost:PORT/cors', {method: 'POST', headers: {'X-A': '1'}, body: 'x'});
fetch('/cached').then(r => r.text()).then(() => fetch('/cached'));
fetch('/loud', {method: 'HEAD'});
new Worker('/worker.js');
new SharedWorker('/shared.js');
new EventSource('/events');
console.error('lone \ud800 surrogate');
alert('nobody answers');
</script>)";

/// Tells what came of the steps, and whether it was a user who took them.
constexpr auto kStepsPage = R"HTML(<!doctype html><body><div style=height:3000px></div>
<button onclick="setTimeout(() => { this.after(field); }, 100)">open</button><script>
const field = document.createElement('input');
field.onkeydown = (event) => {
  if (event.key !== 'Enter') return;
  fetch('/typed?' + encodeURIComponent(field.value) + '&' + event.isTrusted)
    .then(() => field.insertAdjacentHTML('afterend', '<p id=done>done</p>'));
};
</script>)HTML";

/// Opens a window, and shows that its own scripts go on after that one has loaded.
constexpr auto kOpeningPage = R"HTML(<!doctype html><body>
<button onclick="window.open('/popup')">open</button><script>
onmessage = () => setTimeout(() => document.body.insertAdjacentHTML('beforeend',
                                                                    '<p id=after>after</p>'));
</script>)HTML";

/// From its second load on a service worker answers /x.
constexpr auto kServedPage = R"HTML(<!doctype html><script>
navigator.serviceWorker.register('/service.js').then(() => navigator.serviceWorker.ready)
  .then(() => fetch('/x')).then((answer) => answer.text());
</script>)HTML";
constexpr auto kServiceWorker = R"(onfetch = (event) => {
  if (new URL(event.request.url).pathname === '/x') event.respondWith(fetch('/of-sw'));
};)";

constexpr auto kDeepLogPage = R"HTML(<!doctype html><script>
let nested = 0;
for (let i = 0; i < 600; ++i) nested = [nested];
console.log(nested);
</script>)HTML";

std::string on_port(std::string text, const std::string& port) {
  for (auto at = text.find("PORT"); at != std::string::npos; at = text.find("PORT")) {
    text.replace(at, 4, port);
  }
  return text;
}

std::string serve(const LoopbackServer::Request& request, int port) {
  auto const& path = request.path;
  std::string const script = "text/javascript";
  if (path == "/") return http_response("text/html", on_port(kPage, std::to_string(port)));
  if (path == "/style.css") return http_response("text/css", "p { color: green }");
  if (path == "/script.js") return http_response(script, "document.title = 'ran'");
  if (path == "/worker.js") return http_response(script, "fetch('/of-worker')");
  if (path == "/shared.js") return http_response(script, "fetch('/of-shared-worker')");
  if (path == "/opens") return http_response("text/html", kOpeningPage);
  if (path == "/popup") {
    return http_response("text/html", "<script>opener.postMessage('', '*')</script>");
  }
  if (path == "/served") return http_response("text/html", kServedPage);
  if (path == "/service.js") return http_response(script, kServiceWorker);
  if (path == "/frame") return http_response("text/html", "<img src=/of-frame.png>");
  if (path == "/redirect.png") {
    return http_response("text/plain", "", "302 Found", "Location: /image.png\r\n");
  }
  if (path == "/image.png" || path == "/of-frame.png") {
    return http_response("image/png", *decode_base64(kPng));
  }
  if (path == "/cached")
    return http_response("text/plain", "kept", "200 OK", "Cache-Control: max-age=600\r\n");
  if (path == "/events") {
    return "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: x\n\n";
  }
  if (path == "/deep-log") return http_response("text/html", kDeepLogPage);
  if (path == "/steps") return http_response("text/html", kStepsPage);
  if (path == "/hang") return http_response("text/html", "<script>for (;;) {}</script>");
  if (path == "/silent") return "";
  if (path == "/cut") {
    return "HTTP/1.1 200 OK\r\nContent-Length: 100\r\nConnection: close\r\n\r\nshort";
  }
  if (path == "/download") {
    return http_response("application/octet-stream", "file", "200 OK",
                         "Content-Disposition: attachment; filename=file.bin\r\n");
  }
  if (path == "/goes-on") return http_response("text/html", "<script>location = '/frame'</script>");
  if (path == "/missing.png" || path == "/404") {
    return http_response("text/html", "not here", "404 Not Found");
  }
  return http_response("text/plain", "answer", "200 OK",
                       "Access-Control-Allow-Origin: *\r\nAccess-Control-Allow-Headers: *\r\n");
}

/// What is not the same in the two.
struct Kind {
  std::string program;
  bool tells_other_targets;  ///< shared and service workers, and windows that a page opens
  bool tells_addresses;
  bool logs_missing_images;
  std::string refused;
  std::string cut;
  std::string download;
};
const Kind kChromium{"chromium",
                     true,
                     true,
                     true,
                     "net::ERR_CONNECTION_REFUSED",
                     "net::ERR_CONTENT_LENGTH_MISMATCH",
                     "net::ERR_ABORTED"};
const Kind kFirefox{"firefox-esr",
                    false,
                    false,
                    false,
                    "NS_ERROR_CONNECTION_REFUSED",
                    "NS_ERROR_NET_PARTIAL_TRANSFER",
                    "it is a download"};

void PrintTo(const Kind& kind, std::ostream* out) {
  *out << kind.program;
}

class RealBrowser : public testing::TestWithParam<Kind> {
 protected:
  static void SetUpTestSuite() {
    server_ =
        new LoopbackServer([](const auto& request) { return serve(request, server_->port()); });
  }
  static void TearDownTestSuite() {
    browsers_.clear();
    delete server_;
  }

  void SetUp() override {
    auto& browser = browsers_[GetParam().program];
    if (!browser || !browser->usable()) {
      BrowserOptions options;
      options.program = GetParam().program;
      std::string failure;
      auto started = Browser::start(options, &failure);
      ASSERT_TRUE(started.has_value()) << failure;
      browser = std::move(*started);
    }
    browser_ = browser.get();
  }

  PageLoad load(const std::string& path, std::chrono::milliseconds timeout = 90s) {
    PageOptions options;
    options.timeout = timeout;
    options.settle = settle_;
    options.screenshot = screenshot_;
    options.steps = steps_;
    options.quiet = quiet_;
    options.warm = warm_;
    return browser_->load(server_->url(path), options);
  }
  /// A load that times out as it is `due`, which takes a busy machine longer to get to.
  PageLoad load_in_vain(const std::string& path, const testing::Matcher<const PageLoad&>& due) {
    for (auto const timeout : {3s, 9s}) {
      auto page = load(path, timeout);
      if (due.Matches(page)) return page;
    }
    return load(path, 27s);
  }
  static std::string far_url(const std::string& path) {
    return "http://localhost:" + std::to_string(server_->port()) + path;
  }

  static inline LoopbackServer* server_ = nullptr;
  static inline std::map<std::string, std::unique_ptr<Browser>> browsers_;
  Browser* browser_ = nullptr;
  std::filesystem::path screenshot_;
  std::vector<Step> steps_;
  std::chrono::milliseconds quiet_ = 500ms;
  std::chrono::milliseconds settle_ = 100ms;
  bool warm_ = false;
};

INSTANTIATE_TEST_SUITE_P(, RealBrowser, testing::Values(kChromium, kFirefox), [](const auto& test) {
  return std::string(test.param.program.starts_with("f") ? "Firefox" : "Chromium");
});

/// Matches a request by URL and status.
auto asked(const std::string& url, int status) {
  return AllOf(Field("url", &PageRequest::url, url), Field("status", &PageRequest::status, status));
}

const PageRequest& request_for(const PageLoad& load, const std::string& url) {
  for (auto const& request : load.requests) {
    if (request.url == url && request.method != "OPTIONS") return request;
  }
  ADD_FAILURE() << "nobody asked for " << url;
  static const PageRequest kNone;
  return kNone;
}

TEST_P(RealBrowser, TellsAllThatAPageDid) {
  ScratchFolder const folder;
  auto const screenshot = folder / "page.png";
  screenshot_ = screenshot;
  quiet_ = 2s;  // a worker may be long in starting
  auto const page = load("/");
  screenshot_.clear();
  ASSERT_EQ(page.outcome, LoadOutcome::kLoaded) << page.failure;
  EXPECT_THAT(page.dom.value_or(""), HasSubstr("<title>ran</title>"));
  EXPECT_EQ(page.final_url, server_->url("/"));
  EXPECT_GT(page.load_event_ms, 0);
  EXPECT_GE(page.load_event_ms, page.dom_content_loaded_ms);
  EXPECT_GT(page.first_contentful_paint_ms, 0);

  // Frames of other sites, workers and shared workers among them.
  for (auto const path : {"/", "/style.css", "/script.js", "/image.png", "/post", "/cached",
                          "/worker.js", "/of-worker"}) {
    EXPECT_THAT(page.requests, Contains(asked(server_->url(path), 200)));
  }
  for (auto const path : {"/shared.js", "/of-shared-worker"}) {
    if (!GetParam().tells_other_targets) continue;
    EXPECT_THAT(page.requests, Contains(asked(server_->url(path), 200)));
  }
  EXPECT_THAT(page.requests, Contains(asked(server_->url("/redirect.png"), 302)));
  EXPECT_THAT(page.requests, Contains(asked(server_->url("/missing.png"), 404)));
  EXPECT_THAT(page.requests, Contains(asked(far_url("/frame"), 200)));
  EXPECT_THAT(page.requests, Contains(asked(far_url("/of-frame.png"), 200)));

  EXPECT_EQ(request_for(page, server_->url("/style.css")).body_sha256,
            sha256_hex("p { color: green }"));
  EXPECT_EQ(request_for(page, server_->url("/image.png")).body_sha256,
            sha256_hex(*decode_base64(kPng)));
  EXPECT_EQ(request_for(page, far_url("/frame")).body_sha256,
            sha256_hex("<img src=/of-frame.png>"));
  EXPECT_EQ(request_for(page, server_->url("/post")).request_body_sha256,
            sha256_hex(std::string_view("\0\xFF\x80", 3)));
  EXPECT_EQ(request_for(page, server_->url("/loud")).body_sha256, std::nullopt);
  EXPECT_EQ(request_for(page, server_->url("/")).protocol, "http/1.1");
  EXPECT_EQ(request_for(page, server_->url("/")).remote_address,
            GetParam().tells_addresses ? "127.0.0.1:" + std::to_string(server_->port()) : "");
  EXPECT_THAT(page.requests, Contains(AllOf(asked(server_->url("/cached"), 200),
                                            Field(&PageRequest::from_cache, true))));
  EXPECT_THAT(page.requests, Contains(AllOf(asked(far_url("/cors"), 200),
                                            Field(&PageRequest::method, "OPTIONS"))));

  EXPECT_THAT(page.console_errors, Contains(HasSubstr("lone \xEF\xBF\xBD surrogate")));
  if (GetParam().logs_missing_images) {
    EXPECT_THAT(page.console_errors, Contains(HasSubstr("404")));
  }
  EXPECT_THAT(page.remarks, IsEmpty());

  char magic[4] = {};
  std::ifstream(screenshot, std::ios::binary).read(magic, 4);
  EXPECT_EQ(std::string_view(magic, 4), "\x89PNG");
}

TEST_P(RealBrowser, ComputesSlowerIfItIsAsked) {
  if (std::string(GetParam().program).starts_with("firefox")) {
    EXPECT_EQ(browser_->slowdown(8).error(), std::errc::not_supported);
  } else {
    double slowest = 0;
    // Where other programs have the processors, what slows a page is starved.
    for (int i = 0; i < 10 && slowest <= 1.5; ++i) {
      auto const slowdown = browser_->slowdown(8);
      ASSERT_TRUE(slowdown.has_value()) << slowdown.error().message();
      slowest = std::max(slowest, *slowdown);
    }
    EXPECT_GT(slowest, 1.5);
  }
  EXPECT_EQ(load("/").outcome, LoadOutcome::kLoaded) << "as before";
}

TEST_P(RealBrowser, StartsEveryLoadWithAnEmptyCache) {
  auto const before = server_->seen()["GET /style.css"];
  load("/");
  load("/");
  EXPECT_EQ(server_->seen()["GET /style.css"], before + 2);
}

TEST_P(RealBrowser, ShowsAnErrorPageOfTheSiteAsLoaded) {
  auto const page = load("/404");
  EXPECT_EQ(page.outcome, LoadOutcome::kLoaded) << page.failure;
  EXPECT_EQ(request_for(page, server_->url("/404")).status, 404);
  EXPECT_THAT(page.dom.value_or(""), HasSubstr("not here"));
}

TEST_P(RealBrowser, LoadsAPageThatLogsADeepObject) {
  auto const page = load("/deep-log");
  EXPECT_EQ(page.outcome, LoadOutcome::kLoaded) << page.failure;
}

TEST_P(RealBrowser, FollowsAScriptToAnotherPage) {
  auto const page = load("/goes-on");
  EXPECT_EQ(page.outcome, LoadOutcome::kLoaded) << page.failure;
  EXPECT_EQ(page.final_url, server_->url("/frame"));
  EXPECT_THAT(page.requests, Contains(asked(server_->url("/of-frame.png"), 200)));
}

TEST_P(RealBrowser, TakesTheStepsOfAUser) {
  steps_ = {{.kind = Step::Kind::kClick, .selector = "button"},
            {.kind = Step::Kind::kType, .selector = "input", .text = "aé日\n"},
            {.kind = Step::Kind::kAppear, .selector = "#done"}};
  auto const page = load("/steps");
  EXPECT_EQ(page.outcome, LoadOutcome::kLoaded) << page.failure;
  EXPECT_THAT(page.requests, Contains(asked(server_->url("/typed?a%C3%A9%E6%97%A5&true"), 200)));
  EXPECT_THAT(page.dom.value_or(""), HasSubstr("done"));
}

TEST_P(RealBrowser, LoadsTheWindowsThatAPageOpens) {
  steps_ = {{.kind = Step::Kind::kClick, .selector = "button"},
            {.kind = Step::Kind::kAppear, .selector = "#after"}};
  // The first page of a browser is in a normal window, further ones are in private windows, and
  // must not be taken for windows that a page opened.
  for (int i = 0; i < 2; ++i) {
    auto const before = server_->seen()["GET /popup"];
    auto const page = load("/opens");
    EXPECT_EQ(page.outcome, LoadOutcome::kLoaded) << page.failure;
    EXPECT_EQ(server_->seen()["GET /popup"], before + 1);
    EXPECT_THAT(page.dom.value_or(""), HasSubstr("<p id=\"after\">"));
    EXPECT_EQ(page.final_url, server_->url("/opens"));
    auto const times = GetParam().tells_other_targets ? 1 : 0;
    EXPECT_THAT(page.requests, Contains(asked(server_->url("/popup"), 200)).Times(times));
  }
}

TEST_P(RealBrowser, TellsWhatAServiceWorkerFetchesInAWarmLoad) {
  warm_ = true;
  quiet_ = 2s;  // a worker may be long in starting
  auto const before = server_->seen()["GET /of-sw"];
  auto const page = load("/served");
  ASSERT_EQ(page.outcome, LoadOutcome::kLoaded) << page.failure;
  ASSERT_EQ(server_->seen()["GET /of-sw"], before + 1);
  auto const times = GetParam().tells_other_targets ? 1 : 0;
  EXPECT_THAT(page.requests, Contains(asked(server_->url("/of-sw"), 200)).Times(times));
}

TEST_P(RealBrowser, SaysWhichStepFailed) {
  steps_ = {{.kind = Step::Kind::kClick, .selector = "#never"}};
  auto const told = HasSubstr("\"click #never\" failed: the element did not appear");
  auto const missing = load_in_vain("/steps", Field(&PageLoad::failure, told));
  EXPECT_EQ(missing.outcome, LoadOutcome::kTimedOut);
  EXPECT_THAT(missing.failure, told);
  steps_ = {{.kind = Step::Kind::kAppear, .selector = ":::"}};
  auto const wrong = load("/steps");
  EXPECT_EQ(wrong.outcome, LoadOutcome::kNavigationFailed);
  EXPECT_THAT(wrong.failure, HasSubstr("invalid CSS selector"));
}

TEST_P(RealBrowser, FailsWhereNobodyListens) {
  int free_port = 0;
  {
    free_port = LoopbackServer([](const auto&) { return ""; }).port();
  }
  auto const page = browser_->load("http://127.0.0.1:" + std::to_string(free_port) + "/", {});
  EXPECT_EQ(page.outcome, LoadOutcome::kNavigationFailed);
  EXPECT_THAT(page.failure, HasSubstr(GetParam().refused));
}

TEST_P(RealBrowser, FailsWhenTheDocumentBreaksOff) {
  auto const page = load("/cut");
  EXPECT_EQ(page.outcome, LoadOutcome::kNavigationFailed);
  EXPECT_THAT(page.failure, HasSubstr(GetParam().cut));
}

TEST_P(RealBrowser, FailsWhereTheUrlIsADownload) {
  auto const page = load("/download");
  EXPECT_EQ(page.outcome, LoadOutcome::kNavigationFailed);
  EXPECT_THAT(page.failure, HasSubstr(GetParam().download));
}

TEST_P(RealBrowser, LoadsAPageFromACacheWithoutWaitingForAnIdleBrowser) {
  warm_ = true;
  settle_ = 0ms;
  auto const page = load("/frame");
  ASSERT_EQ(page.outcome, LoadOutcome::kLoaded) << page.failure;
  EXPECT_EQ(page.final_url, server_->url("/frame"));
  EXPECT_THAT(page.requests, Contains(asked(server_->url("/frame"), 200)));
}

TEST_P(RealBrowser, GivesUpOnAnOriginThatNeverAnswersAndLoadsTheNextPage) {
  auto const told = HasSubstr("1 request in flight, the first " + server_->url("/silent"));
  auto const silent = load_in_vain("/silent", Field(&PageLoad::failure, told));
  EXPECT_EQ(silent.outcome, LoadOutcome::kTimedOut);
  EXPECT_THAT(silent.failure, told);
  EXPECT_EQ(load("/frame").outcome, LoadOutcome::kLoaded);
}

TEST_P(RealBrowser, GivesUpOnAPageThatNeverYieldsAndLoadsTheNextPage) {
  auto const told = Contains(HasSubstr("do not end"));
  auto const hung = load_in_vain("/hang", Field(&PageLoad::remarks, told));
  EXPECT_EQ(hung.outcome, LoadOutcome::kTimedOut);
  EXPECT_THAT(hung.remarks, told);
  EXPECT_EQ(load("/frame").outcome, LoadOutcome::kLoaded);
}

}  // namespace
}  // namespace reprise
