#include "proxy/record/trace_fetcher.h"

#include <gmock/gmock.h>

#include "tests/proxy/record/recorded_session.h"

namespace reprise {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

constexpr std::string_view kGetWithCookie =
    "GET /page?a=1 HTTP/1.1\r\nHost: a.test\r\nCookie: session=7\r\nReferer: x\r\n\r\n";
constexpr std::string_view kTraceJson = R"({"version":1})";

std::string traced_response(std::string_view fields, std::string_view content, int status = 200) {
  return "HTTP/1.1 " + std::to_string(status) +
         " x\r\nContent-Length: " + std::to_string(content.size()) + "\r\n" + std::string(fields) +
         "\r\n" + std::string(content);
}

/// A trace's URL, as the target that is asked, or why none is.
std::string target_of(std::string_view url, bool is_inline = false) {
  RequestHead const request{
      .method = "GET", .scheme = Scheme::kHttps, .host = "a.test", .port = 443, .target = "/b/c?d"};
  TraceMention const mention{.url = std::string(url), .is_inline = is_inline};
  std::string why;
  auto const found = mention.target_for(request, why);
  return found ? *found : "no: " + why;
}

TEST(TraceMention, IsAskedOnlyAtTheOriginOfTheRequest) {
  EXPECT_EQ(target_of("/traces/81?x=1"), "/traces/81?x=1");
  EXPECT_EQ(target_of("81"), "/b/81");
  EXPECT_EQ(target_of("https://A.test:443/t"), "/t");
  EXPECT_EQ(target_of("//a.test/t"), "/t");
  for (auto const* const url : {"http://a.test/t", "https://b.test/t", "//b.test/t", "/\\b.test/t",
                                "https://a.test:8443/t", "https://a.test.b.test/t"}) {
    EXPECT_THAT(target_of(url), HasSubstr("no: its URL is of another origin")) << url;
  }
  for (auto const* const url : {"ftp://a.test/t", "https://user@a.test/t", "file:///etc/passwd"}) {
    EXPECT_EQ(target_of(url), "no: its URL is invalid") << url;
  }
  EXPECT_EQ(target_of("/t", true), "no: ");
  EXPECT_EQ(target_of(""), "no: ");
}

TEST(TraceMention, IsReadFromAnyForm) {
  auto const of = [](std::vector<HeaderView> fields) {
    TraceMention mention;
    mention.add(fields);
    return mention;
  };
  EXPECT_EQ(of({{"banky-trace", "URL=/t,1"}}).url, "/t,1");
  EXPECT_FALSE(of({{"banky-trace", "URL=/t,1"}}).is_inline);
  EXPECT_TRUE(of({{"Banky-Trace", "url=/t, Base64Lines=1; base64bytes=4"}}).is_inline);
  EXPECT_TRUE(of({{"Banky-Trace", "url=/t"}, {"Banky-Trace", "base64lines=1"}}).is_inline);
  EXPECT_EQ(of({{"Other", "url=/t"}}).url, "");
  EXPECT_EQ(of({{"Banky-Trace", "url=/t,url=/t"}}).url, "/t");
  EXPECT_EQ(of({{"Banky-Trace", "url=/t , URL=/t"}}).url, "/t");
  EXPECT_EQ(of({{"Banky-Trace", "0=AAAA,\tUrl=/t?a=1,b"}}).url, "/t?a=1,b");
  EXPECT_FALSE(of({{"Banky-Trace", "url=/t?base64lines=1"}}).is_inline);
}

class TraceFetcherTest : public testing::Test {
 protected:
  /// One request: its response has these fields, the trace's connection plays `trace`.
  void record(
      const std::string& fields, ScriptedDialer::Script trace,
      const std::optional<RecordSession::TraceLimits>& limits = RecordSession::TraceLimits{}) {
    if (limits) session_.session->fetch_traces(*limits);
    session_.dialer.scripts = {[fields](MemoryStream& stream) -> awaitable<void> {
      (void)co_await read_through(stream, "\r\n\r\n");
      (void)co_await stream.write(bytes_of(traced_response(fields, "page")));
      (void)co_await read_all(stream);
    }};
    session_.dialer.scripts.push_back(std::move(trace));
    Received received;
    session_.ask(std::string(kGetWithCookie), {&received});
    session_.run();
    EXPECT_EQ(received.body, "page");
    fetched_ = session_.session->counters().traces;
    refused_ = session_.session->counters().traces_refused;
    reader_ = session_.archive();
    exchanges_ = exchanges_of(*reader_);
    ASSERT_FALSE(exchanges_.empty());
    EXPECT_EQ(exchanges_[0].outcome, Outcome::kComplete);
    EXPECT_EQ(load(*reader_, exchanges_[0].response.body), "page");
  }

  /// Answers the request for the trace.
  ScriptedDialer::Script answers(std::string wire) {
    return [this, wire = std::move(wire)](MemoryStream& stream) -> awaitable<void> {
      asked_ += co_await read_through(stream, "\r\n\r\n");
      (void)co_await stream.write(bytes_of(wire));
      (void)co_await read_all(stream);
    };
  }

  void expect_refused() {
    EXPECT_EQ(fetched_, 0U);
    EXPECT_EQ(refused_, 1U);
    EXPECT_THAT(exchanges_, SizeIs(1));
    EXPECT_THAT(reader_->connections(), SizeIs(1));
  }

  ScratchFolder folder_;
  RecordedSession session_{folder_ / "a.reprise"};
  std::string asked_;
  std::uint64_t fetched_ = 0;
  std::uint64_t refused_ = 0;
  std::unique_ptr<ArchiveReader> reader_;
  std::vector<Exchange> exchanges_;
};

TEST_F(TraceFetcherTest, ArchivesATraceAsAnExchangeOfItsOwn) {
  record("Banky-Trace: url=/banky-trace/1\r\n",
         answers(traced_response("X-Kept: 1\r\n", kTraceJson)));
  EXPECT_EQ(fetched_, 1U);
  EXPECT_EQ(refused_, 0U);
  EXPECT_THAT(asked_, testing::StartsWith("GET /banky-trace/1 HTTP/1.1\r\n"));
  EXPECT_THAT(asked_, HasSubstr("Cookie: session=7\r\n"));
  EXPECT_THAT(asked_, HasSubstr("Host: a.test\r\n"));
  EXPECT_THAT(asked_, testing::Not(HasSubstr("Referer")));
  ASSERT_THAT(exchanges_, SizeIs(2));
  auto const& trace = exchanges_[1];
  EXPECT_EQ(url_of(trace.request), "http://a.test/banky-trace/1");
  EXPECT_EQ(trace.client_connection_id, 0U);
  EXPECT_NE(trace.origin_connection_id, exchanges_[0].origin_connection_id);
  EXPECT_EQ(trace.response.status, 200);
  EXPECT_EQ(find_header(trace.response.headers.list(), "X-Kept"), "1");
  EXPECT_EQ(load(*reader_, trace.response.body), kTraceJson);
  EXPECT_LE(exchanges_[0].timings.end, trace.timings.queued);
  EXPECT_LE(trace.timings.request_sent, trace.timings.first_byte);
  EXPECT_LE(trace.timings.first_byte, trace.timings.end);
  EXPECT_THAT(reader_->connections(), SizeIs(2));
}

TEST_F(TraceFetcherTest, AsksNobodyIfTheTraceIsInTheFields) {
  record("Banky-Trace: url=/t\r\nBanky-Trace: base64lines=1; base64bytes=4\r\n", answers(""));
  EXPECT_THAT(session_.dialer.dialled, SizeIs(1));
  EXPECT_EQ(refused_, 0U);
}

TEST_F(TraceFetcherTest, IsOffUnlessSwitchedOn) {
  record("Banky-Trace: url=/t\r\n", answers(""), std::nullopt);
  EXPECT_THAT(session_.dialer.dialled, SizeIs(1));
  EXPECT_EQ(refused_, 0U);
}

TEST_F(TraceFetcherTest, AsksNoOtherOrigin) {
  record("Banky-Trace: url=http://b.test/t\r\n", answers(traced_response("", kTraceJson)));
  EXPECT_THAT(session_.dialer.dialled, SizeIs(1));
  expect_refused();
}

TEST_F(TraceFetcherTest, SendsTheFieldsThatTheUserAdds) {
  RequestRules rules;
  rules.fields = {{.name = "X-Key", .value = "planted-secret"},
                  {.name = "Cookie", .value = "session=8"},
                  {.host = "b.test", .name = "X-Other", .value = "1"}};
  session_.session->change_requests(std::move(rules));
  record("Banky-Trace: url=/t\r\n", answers(traced_response("", kTraceJson)));
  EXPECT_EQ(fetched_, 1U);
  EXPECT_THAT(asked_, HasSubstr("X-Key: planted-secret\r\n"));
  EXPECT_THAT(asked_, HasSubstr("Cookie: session=8\r\n"));
  EXPECT_THAT(asked_, testing::Not(HasSubstr("session=7")));
  EXPECT_THAT(asked_, testing::Not(HasSubstr("X-Other")));
  ASSERT_THAT(exchanges_, SizeIs(2));
  auto const fields = exchanges_[1].request.headers.list();
  EXPECT_FALSE(find_header(fields, "X-Key"));
  EXPECT_EQ(find_header(fields, "Cookie"), "session=7");
}

TEST_F(TraceFetcherTest, AsksForNoTraceThatTheUserBlocks) {
  auto filter = Filter::parse("path=/t", request_vocabulary());
  ASSERT_TRUE(filter);
  RequestRules rules;
  rules.blocked.push_back({.text = "path=/t", .filter = std::move(*filter)});
  session_.session->change_requests(std::move(rules));
  record("Banky-Trace: url=/t\r\n", answers(traced_response("", kTraceJson)));
  EXPECT_THAT(session_.dialer.dialled, SizeIs(1));
  expect_refused();
}

TEST_F(TraceFetcherTest, LeavesTheRecordingAsItIsIfATraceIsTooLong) {
  record("Banky-Trace: url=/t\r\n",
         answers("HTTP/1.1 200 x\r\nContent-Length: 100000000\r\n\r\n" + std::string(5000, 'x')),
         RecordSession::TraceLimits{.bytes = 4999});
  EXPECT_THAT(session_.dialer.dialled, SizeIs(2));
  expect_refused();
}

TEST_F(TraceFetcherTest, LeavesTheRecordingAsItIsIfATraceNeverEnds) {
  auto const limits = RecordSession::TraceLimits{.time = std::chrono::milliseconds(0)};
  record("Banky-Trace: url=/t\r\n", answers("HTTP/1.1 200 x\r\nContent-Length: 9\r\n\r\nx"),
         limits);
  expect_refused();
}

TEST_F(TraceFetcherTest, LeavesTheRecordingAsItIsIfATraceCannotBeHad) {
  for (auto const& wire :
       {traced_response("", kTraceJson, 404), traced_response("Location: /elsewhere\r\n", "", 302),
        std::string("HTTP/1.1 200 x\r\nContent-Length: 9\r\n\r\nx"),
        std::string("nonsense\r\n\r\n")}) {
    RecordedSession session(folder_ / "b.reprise");
    session.session->fetch_traces({});
    session.dialer.scripts = {answers(traced_response("Banky-Trace: url=/t\r\n", "page")),
                              [wire](MemoryStream& stream) -> awaitable<void> {
                                (void)co_await read_through(stream, "\r\n\r\n");
                                (void)co_await stream.write(bytes_of(wire));
                              }};
    Received received;
    session.ask(std::string(kGetWithCookie), {&received});
    session.run();
    EXPECT_EQ(session.session->counters().traces_refused, 1U) << wire;
    EXPECT_THAT(exchanges_of(*session.archive()), SizeIs(1)) << wire;
  }
}

TEST_F(TraceFetcherTest, FetchesOneAfterTheOtherOverOneConnection) {
  session_.session->fetch_traces({.bytes = 100, .all_bytes = 2 * kTraceJson.size() - 1});
  session_.dialer.scripts = {
      [](MemoryStream& stream) -> awaitable<void> {
        for (int i = 1; i <= 2; ++i) {
          (void)co_await read_through(stream, "\r\n\r\n");
          (void)co_await stream.write(
              bytes_of(traced_response("Banky-Trace: url=/" + std::to_string(i) + "\r\n", "page")));
        }
        (void)co_await read_all(stream);
      },
      [](MemoryStream& stream) -> awaitable<void> {
        for (int i = 1; i <= 2; ++i) {
          (void)co_await read_through(stream, "\r\n\r\n");
          (void)co_await stream.write(bytes_of(traced_response("", kTraceJson)));
        }
        (void)co_await read_all(stream);
      }};
  Received first, second;
  session_.ask(std::string(kGetWithCookie) + std::string(kGetWithCookie), {&first, &second});
  session_.run();
  EXPECT_THAT(session_.dialer.dialled, SizeIs(2));
  EXPECT_EQ(second.body, "page");
  EXPECT_EQ(session_.session->counters().traces, 1U);
  EXPECT_EQ(session_.session->counters().traces_refused, 1U);  // more than the session may have
  std::vector<std::string> targets;
  for (auto const& exchange : exchanges_of(*session_.archive())) {
    targets.push_back(exchange.request.target);
  }
  EXPECT_THAT(targets, testing::UnorderedElementsAre("/page?a=1", "/page?a=1", "/1"));
}

}  // namespace
}  // namespace reprise
