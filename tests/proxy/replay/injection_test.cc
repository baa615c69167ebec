// Documents are served with the script in them, everything else as it was recorded.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/bytes.h"
#include "proxy/replay/replay_session.h"
#include "tests/proxy/replay/recorded_archive.h"

namespace reprise {
namespace {

constexpr std::string_view kPage = "<!doctype html><title>x</title><p>text";
constexpr std::string_view kScript = "work()";

class ReplayInjection : public testing::Test {
 protected:
  void record(const std::string& target, std::string_view body, Headers headers,
              std::uint16_t status = 200, const std::string& method = "GET") {
    auto exchange = RecordedArchive::exchange(method, target, std::move(headers));
    exchange.response.status = status;
    exchange.response.version = HttpVersion::kH2;
    archive_.add(std::move(exchange), body);
  }

  ReplaySession& replay(inject::InjectedScript::Texts texts = {.document = {"ours()"},
                                                               .worker = "ours();"}) {
    if (!replay_) {
      replay_.emplace(archive_.reader(),
                      ReplaySession::Options{.script = *inject::InjectedScript::create(texts)});
    }
    return *replay_;
  }

  /// What who loads `target` for `destination` gets.
  const StoredResponse::Parts& get(std::string_view target, std::string_view destination,
                                   std::string_view mode = "navigate",
                                   std::string_view method = "GET") {
    std::vector<HeaderView> const headers{{.name = "Sec-Fetch-Dest", .value = destination},
                                          {.name = "Sec-Fetch-Mode", .value = mode},
                                          {.name = "Accept", .value = "text/html,*/*"}};
    RequestHead const head{.method = method,
                           .scheme = Scheme::kHttps,
                           .host = "a.test",
                           .port = 443,
                           .target = target,
                           .version = HttpVersion::kH2,
                           .headers = headers};
    auto const response = replay().stored(head, connection_);
    EXPECT_NE(response, nullptr) << target;
    return response->parts();
  }
  std::string_view body(std::string_view target, std::string_view destination,
                        std::string_view mode = "navigate") {
    return text_of(get(target, destination, mode).body.bytes);
  }

  Headers const html_{{.name = "Content-Type", .value = "text/html; charset=utf-8"},
                      {.name = "Content-Length", .value = "38"},
                      {.name = "ETag", .value = "\"x\""},
                      {.name = "Alt-Svc", .value = "h3=\":443\""}};
  Headers const script_{{.name = "Content-Type", .value = "text/javascript"}};

 private:
  RecordedArchive archive_;
  AskedConnection connection_;
  std::optional<ReplaySession> replay_;
};

TEST_F(ReplayInjection, DependsOnWhatTheResponseIsFor) {
  record("/page", kPage, html_);
  record("/script", kScript, script_);
  EXPECT_EQ(body("/page", "document"),
            "<!doctype html><script>ours()</script><title>x</title><p>text");
  EXPECT_EQ(body("/page", "iframe"), body("/page", "document"));
  EXPECT_EQ(body("/page", "empty", "navigate"), body("/page", "document"));  // a service worker
  EXPECT_EQ(body("/page", "empty", "cors"), kPage);
  EXPECT_EQ(body("/script", "script", "no-cors"), kScript);
  EXPECT_EQ(body("/script", "worker", "same-origin"), "ours();work()");
  EXPECT_EQ(body("/script", "document"), kScript);
}

TEST_F(ReplayInjection, TheHeadFitsTheBody) {
  record("/page", kPage, html_);
  auto const& parts = get("/page", "document");
  EXPECT_EQ(find_header(parts.head.headers, "content-length"),
            std::to_string(parts.body.bytes.size()));
  EXPECT_EQ(find_header(parts.head.headers, "etag"), "\"x\"");
  EXPECT_EQ(find_header(parts.head.headers, "alt-svc"), std::nullopt);
}

TEST_F(ReplayInjection, IsDoneOnceForAll) {
  record("/page", kPage, html_);
  auto const* const first = &get("/page", "document");
  EXPECT_EQ(&get("/page", "document"), first);
  EXPECT_NE(&get("/page", "empty", "cors"), first);
  replay().warm();
  EXPECT_EQ(&get("/page", "document"), first);
}

TEST_F(ReplayInjection, IsNotDoneInAdvanceOnceToldToStop) {
  for (auto const* const target : {"/1", "/2", "/3"}) record(target, kPage, html_);
  int asked = 0;
  EXPECT_EQ(replay().warm([&asked] { return ++asked == 2; }), 0U);
  EXPECT_EQ(asked, 2);
}

TEST_F(ReplayInjection, SaysWhatItAdded) {
  record("/page", kPage, html_);
  record("/lie", kPage,
         {{.name = "Content-Type", .value = "text/html"},
          {.name = "Content-Encoding", .value = "br"}});
  record("/unused", kPage, html_);
  get("/page", "document");
  get("/page", "document");
  EXPECT_EQ(body("/lie", "document"), kPage);
  replay().warm_documents({});
  auto const report = replay().report();
  EXPECT_EQ(report.counts.injected, 2U);
  EXPECT_EQ(report.counts.injected_bytes,
            2 * std::ssize(std::string_view("<script>ours()</script>")));
  ASSERT_EQ(report.documents.size(), 2U);
  for (const InjectedDocument& document : report.documents) {
    bool const lies = document.url == "https://a.test/lie";
    EXPECT_EQ(document.served, lies ? 1U : 2U);
    EXPECT_EQ(document.report.verdict,
              lies ? inject::Verdict::kUndecoded : inject::Verdict::kRewritten);
  }
  replay().reset();
  EXPECT_EQ(replay().report().counts.injected, 0U);
  EXPECT_TRUE(replay().report().documents.empty());
}

TEST_F(ReplayInjection, LeavesHeadsWithoutBodiesAlone) {
  record("/page", "", html_, 200, "HEAD");
  record("/none", "", html_, 204);
  EXPECT_TRUE(get("/page", "document", "navigate", "HEAD").body.bytes.empty());
  EXPECT_TRUE(body("/none", "document").empty());
}

TEST_F(ReplayInjection, OfLargeBodiesToo) {
  std::string const large = std::string(kPage) + std::string(3 << 20, 'x');
  record("/page", large, {{.name = "Content-Type", .value = "text/html; charset=utf-8"}});
  auto const served = body("/page", "document");
  EXPECT_TRUE(served.starts_with("<!doctype html><script>ours()</script><title>"));
  EXPECT_EQ(served.size(), large.size() + std::string_view("<script>ours()</script>").size());
}

TEST_F(ReplayInjection, WorkersStayWhereTheScriptIsNotForThem) {
  record("/script", kScript, script_);
  replay({.document = {"ours()"}, .worker = ""});
  EXPECT_EQ(body("/script", "worker", "same-origin"), kScript);
}

}  // namespace
}  // namespace reprise
