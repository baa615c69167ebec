#include "proxy/record/record_connection.h"

#include <gmock/gmock.h>

#include "proxy/http/h2_server.h"
#include "proxy/record/request_rules.h"
#include "proxy/record/send_again.h"
#include "tests/proxy/record/recorded_session.h"

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

constexpr std::string_view kGet = "GET /page HTTP/1.1\r\nHost: a.test\r\n\r\n";
constexpr std::string_view kContent = "0123456789";

enum class Break : std::uint8_t { kReset, kEnd };

void break_after(MemoryStream& stream, Break how, std::uint64_t bytes) {
  if (how == Break::kReset) stream.reset_after(bytes);
  if (how == Break::kEnd) stream.end_after(bytes);
}

/// Answers one request, whose end is `mark`, with `wire`.
ScriptedDialer::Script answers(std::string wire, std::string mark = "\r\n\r\n") {
  return [=](MemoryStream& stream) -> awaitable<void> {
    (void)co_await read_through(stream, mark);
    (void)co_await stream.write(bytes_of(wire));
    (void)co_await read_all(stream);
  };
}

std::string with_length(std::string_view content) {
  return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(content.size()) + "\r\n\r\n" +
         std::string(content);
}

std::string lines_of(const Headers& fields) {
  std::string text;
  for (const HeaderView& field : fields.list()) {
    text.append(field.name).append(": ").append(field.value).append("\n");
  }
  return text;
}

class RecordConnectionTest : public testing::Test {
 protected:
  ScratchFolder folder_;
  RecordedSession session_{folder_ / "a.reprise"};

  std::vector<Exchange> exchanges() {
    reader_ = session_.archive();
    return exchanges_of(*reader_);
  }
  std::unique_ptr<ArchiveReader> reader_;
};

// An origin that breaks off at each byte of its answer.

struct Answer {
  const char* name;
  std::string wire;
  std::size_t head_bytes;  ///< with the interim ones
  std::string_view content;
  bool until_close = false;
};

class BrokenAnswer : public testing::TestWithParam<Answer> {
 protected:
  /// One exchange whose origin breaks after `cut` bytes.
  void expect_kept_as_seen(Break how, std::size_t cut, std::size_t read_bytes_max) {
    auto const& answer = GetParam();
    SCOPED_TRACE((how == Break::kReset ? "reset after " : "end after ") + std::to_string(cut) +
                 ", reads of " + std::to_string(read_bytes_max));
    RecordedSession session(folder_ / "a.reprise");
    session.dialer.read_bytes_max = read_bytes_max;
    session.dialer.scripts = {[&](MemoryStream& stream) -> awaitable<void> {
      break_after(stream, how, cut);
      (void)co_await read_through(stream, "\r\n\r\n");
      if (cut == 0 && how == Break::kEnd) co_return co_await stream.shutdown();
      (void)co_await stream.write(bytes_of(answer.wire));
      (void)co_await read_all(stream);
    }};
    Received received;
    session.ask(std::string(kGet), {&received});
    session.run();
    EXPECT_THAT(session.archive_errors, IsEmpty());
    auto const reader = session.archive();
    auto const exchanges = exchanges_of(*reader);
    ASSERT_THAT(exchanges, SizeIs(1));
    auto const& kept = exchanges[0];
    auto const body = load(*reader, kept.response.body);
    bool const whole = answer.until_close ? cut >= answer.head_bytes && how == Break::kEnd
                                          : cut == answer.wire.size();
    if (cut < answer.head_bytes) {
      EXPECT_EQ(kept.outcome, Outcome::kOriginFailed);
      EXPECT_EQ(kept.response.status, 0);
      EXPECT_EQ(received.status, 502);
      EXPECT_TRUE(received.whole);
      EXPECT_THAT(kept.failure, HasSubstr("gave no valid response"));
    } else {
      EXPECT_EQ(kept.outcome, whole ? Outcome::kComplete : Outcome::kCutByOrigin) << kept.failure;
      EXPECT_EQ(received.whole, whole);
      EXPECT_EQ(kept.response.status, received.status);
      EXPECT_EQ(body, received.body);
      EXPECT_THAT(answer.content, StartsWith(body));
      if (whole && !answer.until_close) EXPECT_EQ(body, answer.content);
      EXPECT_EQ(lines_of(kept.response.trailers), received.trailers);
    }
    EXPECT_EQ(kept.interim.size(), received.interim.size());
  }

  ScratchFolder folder_;
};

TEST_P(BrokenAnswer, IsKeptAsTheClientSawItAtEachByte) {
  for (std::size_t cut = 0; cut <= GetParam().wire.size() && !HasFailure(); ++cut) {
    for (Break const how : {Break::kReset, Break::kEnd}) {
      for (std::size_t const read_bytes_max : {1, 4096}) {
        expect_kept_as_seen(how, cut, read_bytes_max);
      }
    }
  }
}

Answer const kAnswers[] = {
    {"Length", with_length(kContent), 39, kContent},
    {"Chunked",
     "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
     "4\r\n0123\r\n6\r\n456789\r\n0\r\nX-Sum: 7\r\n\r\n",
     47, kContent},
    {"UntilClose", "HTTP/1.1 200 OK\r\n\r\n0123456789", 19, kContent, true},
    {"Interim",
     "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"
     "HTTP/1.1 204 No Content\r\n\r\n",
     92, ""}};
INSTANTIATE_TEST_SUITE_P(Framings, BrokenAnswer, testing::ValuesIn(kAnswers),
                         [](const auto& info) { return std::string(info.param.name); });

/// An HTTP/2 origin.
class H2Site final : public Handler {
 public:
  Task<void> serve(const ExchangeContext&, const RequestHead&, BodyReader&,
                   ResponseWriter& writer) override {
    std::array<HeaderView, 1> const trailers{{{"x-sum", "7"}}};
    (void)co_await writer.send_head({.status = 103});
    (void)co_await writer.send_head({.status = 200});
    (void)co_await writer.write(bytes_of(kContent.substr(0, 4)));
    (void)co_await writer.write(bytes_of(kContent.substr(4)));
    co_return co_await writer.finish(trailers);
  }
};

TEST_F(RecordConnectionTest, KeepsWhatTheClientSawOfAnH2OriginThatResetsAtEachByte) {
  std::map<Outcome, std::size_t> outcomes;
  for (std::uint64_t cut = 0; !HasFailure() && outcomes[Outcome::kComplete] < 2; ++cut) {
    SCOPED_TRACE(cut);
    RecordedSession session(folder_ / "b.reprise");
    session.dialer.alpn = "h2";
    session.dialer.scripts = {[cut](MemoryStream& stream) -> awaitable<void> {
      stream.reset_after(cut);
      ConnectionInfo info{.id = 1};
      Deadline deadline;
      H2Site site;
      (void)co_await serve_h2(stream, info, site, deadline, {});
    }};
    Received received;
    session.ask(std::string(kGet), {&received});
    session.run();
    auto const reader = session.archive();
    auto const kept = exchanges_of(*reader);
    ASSERT_THAT(kept, SizeIs(1));
    ++outcomes[kept[0].outcome];
    if (kept[0].outcome == Outcome::kOriginFailed) {
      EXPECT_EQ(received.status, 502);
      continue;
    }
    EXPECT_EQ(received.status, 200);
    EXPECT_EQ(load(*reader, kept[0].response.body), received.body);
    EXPECT_THAT(kContent, StartsWith(received.body));
    EXPECT_THAT(received.interim, ElementsAre(103));
    EXPECT_EQ(received.whole, kept[0].outcome == Outcome::kComplete);
    if (received.whole) EXPECT_EQ(received.trailers, "x-sum: 7\n");
    if (!received.whole) EXPECT_EQ(kept[0].outcome, Outcome::kCutByOrigin);
  }
  EXPECT_GT(outcomes[Outcome::kOriginFailed], 0U);
  EXPECT_GT(outcomes[Outcome::kCutByOrigin], 0U);
}

// A client that breaks off at each byte of its request.

struct Upload {
  const char* name;
  std::string wire;
  std::size_t head_bytes;
  std::string mark;  ///< the end of the request, as the origin reads it
};

class BrokenUpload : public testing::TestWithParam<Upload> {
 protected:
  void expect_kept_as_cut(Break how, std::size_t cut) {
    auto const& upload = GetParam();
    SCOPED_TRACE((how == Break::kReset ? "reset after " : "end after ") + std::to_string(cut));
    RecordedSession session(folder_ / "a.reprise");
    std::string seen;
    session.dialer.scripts = {[&](MemoryStream& stream) -> awaitable<void> {
      seen = co_await read_through(stream, upload.mark);
      (void)co_await stream.write(bytes_of(with_length("done")));
      (void)co_await read_all(stream);
    }};
    Received received;
    session.serve([&](H1Client& client, MemoryStream& stream) -> awaitable<void> {
      break_after(stream, how, cut);
      (void)co_await stream.write(bytes_of(upload.wire));
      (void)co_await receive(client, received);
    });
    session.run();
    auto const reader = session.archive();
    auto const exchanges = exchanges_of(*reader);
    if (cut < upload.head_bytes) {
      EXPECT_THAT(exchanges, IsEmpty());
      EXPECT_THAT(session.dialer.dialled, IsEmpty());
      return;
    }
    bool const whole = cut == upload.wire.size();
    ASSERT_THAT(exchanges, SizeIs(1));
    EXPECT_THAT(kContent, StartsWith(load(*reader, exchanges[0].request.body)));
    EXPECT_EQ(exchanges[0].request.body_partial, !whole);
    EXPECT_EQ(seen.ends_with(upload.mark), whole);
    if (whole && how == Break::kEnd) {
      EXPECT_EQ(exchanges[0].outcome, Outcome::kComplete);
      EXPECT_EQ(received.body, "done");
    } else {
      EXPECT_EQ(exchanges[0].outcome, Outcome::kCutByClient);
      EXPECT_EQ(received.status, 0);
    }
  }

  ScratchFolder folder_;
};

TEST_P(BrokenUpload, IsKeptAsCutAtEachByteAndTheOriginSeesNoEnd) {
  for (std::size_t cut = 0; cut <= GetParam().wire.size() && !HasFailure(); ++cut) {
    for (Break const how : {Break::kReset, Break::kEnd}) expect_kept_as_cut(how, cut);
  }
}

Upload const kUploads[] = {
    {"Length", "POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 10\r\n\r\n0123456789", 53,
     "0123456789"},
    {"Chunked",
     "POST / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n"
     "4\r\n0123\r\n6\r\n456789\r\n0\r\nX-Sum: 7\r\n\r\n",
     61, "0\r\nX-Sum: 7\r\n\r\n"}};
INSTANTIATE_TEST_SUITE_P(Framings, BrokenUpload, testing::ValuesIn(kUploads),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_F(RecordConnectionTest, EndsWithAClientWhoseFramingIsBroken) {
  session_.dialer.scripts = {answers(with_length("never"), "\r\n0\r\n\r\n")};
  Received received;
  session_.ask(
      "POST / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\nZZ\r\n",
      {&received});
  session_.run();
  EXPECT_EQ(received.status, 0);
  auto const kept = exchanges();
  ASSERT_THAT(kept, SizeIs(1));
  EXPECT_EQ(kept[0].outcome, Outcome::kCutByClient);
  EXPECT_EQ(load(*reader_, kept[0].request.body), "ab");
  EXPECT_TRUE(kept[0].request.body_partial);
}

TEST_F(RecordConnectionTest, TellsOfAnOriginThatResetsAtEachByteOfTheRequest) {
  auto const& upload = kUploads[0];
  for (std::size_t taken = 0; taken <= upload.wire.size() && !HasFailure(); ++taken) {
    SCOPED_TRACE(taken);
    RecordedSession session(folder_ / "b.reprise");
    session.dialer.scripts = {[taken](MemoryStream& stream) -> awaitable<void> {
      std::array<std::byte, 1> next;
      for (std::size_t i = 0; i < taken; ++i) (void)co_await stream.read_some(next);
      stream.abort();
    }};
    Received received;
    session.ask(upload.wire, {&received});
    session.run();
    EXPECT_EQ(received.status, 502);
    EXPECT_TRUE(received.whole);
    auto const reader = session.archive();
    auto const kept = exchanges_of(*reader);
    ASSERT_THAT(kept, SizeIs(1));
    EXPECT_EQ(kept[0].outcome, Outcome::kOriginFailed);
    EXPECT_EQ(load(*reader, kept[0].request.body), kContent);
    EXPECT_FALSE(kept[0].request.body_partial);
  }
}

TEST_F(RecordConnectionTest, KeepsTheRestOfAnUploadThatItsOriginBreaksOff) {
  Event broken;
  session_.dialer.scripts = {[&](MemoryStream& stream) -> awaitable<void> {
    (void)co_await read_through(stream, "01234");
    stream.abort();
    broken.set();
  }};
  Received received;
  session_.serve([&](H1Client& client, MemoryStream& stream) -> awaitable<void> {
    auto const& wire = kUploads[0].wire;
    (void)co_await stream.write(bytes_of(wire).first(wire.size() - 5));
    co_await broken.wait();
    (void)co_await stream.write(bytes_of(wire).last(5));
    (void)co_await receive(client, received);
  });
  session_.run();
  EXPECT_EQ(received.status, 502);
  auto const kept = exchanges();
  ASSERT_THAT(kept, SizeIs(1));
  EXPECT_EQ(kept[0].outcome, Outcome::kOriginFailed);
  EXPECT_EQ(load(*reader_, kept[0].request.body), kContent);
  EXPECT_FALSE(kept[0].request.body_partial);
}

TEST_F(RecordConnectionTest, NoticesAClientThatLeavesWhileItsUploadIsHeldUp) {
  session_.dialer.scripts = {[](MemoryStream& stream) -> awaitable<void> {
    (void)co_await read_through(stream, "\r\n\r\n");
    co_await stream.peer_gone();
  }};
  session_.serve([](H1Client&, MemoryStream& stream) -> awaitable<void> {
    // More than the origin's stream holds; the client's holds the rest.
    auto const wire = "POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 1000000\r\n\r\n" +
                      std::string(MemoryStream::kUnreadBytesMax * 3 / 2, 'x');
    auto const sent = co_await stream.write(bytes_of(wire));
    EXPECT_TRUE(sent);
  });
  session_.run();
  auto const kept = exchanges();
  ASSERT_THAT(kept, SizeIs(1));
  EXPECT_EQ(kept[0].outcome, Outcome::kCutByClient);
  EXPECT_TRUE(kept[0].request.body_partial);
}

TEST_F(RecordConnectionTest, PassesAPausedAnswerToAClientThatHasLongEndedItsSide) {
  Event goes_on;
  session_.dialer.scripts = {[&](MemoryStream& stream) -> awaitable<void> {
    (void)co_await read_through(stream, "\r\n\r\n");
    auto const wire = with_length(kContent);
    (void)co_await stream.write(bytes_of(wire).first(wire.size() - 5));
    co_await goes_on.wait();
    (void)co_await stream.write(bytes_of(wire).last(5));
    (void)co_await read_all(stream);
  }};
  Received received;
  session_.serve([&](H1Client& client, MemoryStream& stream) -> awaitable<void> {
    (void)co_await stream.write(bytes_of(kGet));
    co_await stream.shutdown();
    (void)co_await receive(client, received);
  });
  session_.context.poll();
  session_.lose_patience();
  session_.context.poll();
  EXPECT_EQ(session_.session->counters().in_flight, 1U);
  goes_on.set();
  session_.run();
  EXPECT_TRUE(received.whole);
  EXPECT_EQ(received.body, kContent);
  auto const kept = exchanges();
  ASSERT_THAT(kept, SizeIs(1));
  EXPECT_EQ(kept[0].outcome, Outcome::kComplete);
}

TEST_F(RecordConnectionTest, LeavesASilentOriginWhenTheClientHasLongEndedItsSide) {
  session_.dialer.scripts = {[](MemoryStream& stream) -> awaitable<void> {
    (void)co_await read_through(stream, "\r\n\r\n");
    co_await stream.peer_gone();
  }};
  Received received;
  session_.serve([&](H1Client& client, MemoryStream& stream) -> awaitable<void> {
    (void)co_await stream.write(bytes_of(kGet));
    co_await stream.shutdown();
    (void)co_await receive(client, received);
  });
  session_.context.poll();
  EXPECT_EQ(session_.session->counters().in_flight, 1U);
  session_.lose_patience();
  session_.run();
  EXPECT_EQ(received.status, 0);
  auto const kept = exchanges();
  ASSERT_THAT(kept, SizeIs(1));
  EXPECT_EQ(kept[0].outcome, Outcome::kCutByClient);
}

TEST_F(RecordConnectionTest, PassesAnAnswerThatComesBeforeTheRequestIsWhole) {
  session_.dialer.scripts = {[](MemoryStream& stream) -> awaitable<void> {
    (void)co_await read_through(stream, "01234");
    (void)co_await stream.write(bytes_of(with_length("enough")));
    (void)co_await read_all(stream);
  }};
  Received received;
  session_.serve([&](H1Client& client, MemoryStream& stream) -> awaitable<void> {
    auto const& wire = kUploads[0].wire;
    (void)co_await stream.write(bytes_of(wire).first(wire.size() - 5));
    (void)co_await receive(client, received);
    (void)co_await stream.write(bytes_of(wire).last(5));
  });
  session_.run();
  EXPECT_EQ(received.body, "enough");
  auto const kept = exchanges();
  ASSERT_THAT(kept, SizeIs(1));
  EXPECT_EQ(kept[0].outcome, Outcome::kComplete);
  EXPECT_TRUE(kept[0].request.body_partial);
  EXPECT_EQ(load(*reader_, kept[0].request.body), "01234");
}

// Connections to origins.

TEST_F(RecordConnectionTest, SaysWhyAnOriginCannotBeReached) {
  Received received;
  session_.ask(std::string(kGet), {&received});
  session_.run();
  EXPECT_EQ(received.status, 502);
  EXPECT_THAT(received.body, HasSubstr("cannot connect to a.test"));
  auto const kept = exchanges();
  ASSERT_THAT(kept, SizeIs(1));
  EXPECT_EQ(kept[0].outcome, Outcome::kOriginFailed);
  EXPECT_EQ(kept[0].failure, "cannot connect to a.test");
  EXPECT_EQ(reader_->connections().at(0).failure, "cannot connect to a.test");
}

TEST_F(RecordConnectionTest, KeepsTheContentForAnOriginThatCannotBeReached) {
  for (const Upload& upload : kUploads) {
    SCOPED_TRACE(upload.name);
    RecordedSession session(folder_ / "b.reprise");
    Received received;
    session.ask(upload.wire, {&received});
    session.run();
    EXPECT_EQ(received.status, 502);
    auto const reader = session.archive();
    auto const kept = exchanges_of(*reader);
    ASSERT_THAT(kept, SizeIs(1));
    EXPECT_EQ(kept[0].outcome, Outcome::kOriginFailed);
    EXPECT_EQ(load(*reader, kept[0].request.body), kContent);
    EXPECT_FALSE(kept[0].request.body_partial);
  }
}

TEST_F(RecordConnectionTest, KeepsTheContentOfABlockedRequest) {
  auto filter = Filter::parse("host=a.test", request_vocabulary());
  ASSERT_TRUE(filter);
  RequestRules rules;
  rules.blocked.push_back({.text = "host=a.test", .filter = std::move(*filter)});
  session_.session->change_requests(std::move(rules));
  Received received;
  session_.ask(kUploads[0].wire, {&received});
  session_.run();
  EXPECT_EQ(received.status, 502);
  EXPECT_THAT(session_.dialer.dialled, IsEmpty());
  auto const kept = exchanges();
  ASSERT_THAT(kept, SizeIs(1));
  EXPECT_EQ(kept[0].outcome, Outcome::kOriginFailed);
  EXPECT_EQ(load(*reader_, kept[0].request.body), kContent);
  EXPECT_FALSE(kept[0].request.body_partial);
}

TEST_F(RecordConnectionTest, SaysThatContentIsPartialWhoseClientEndsBeforeTheOriginFails) {
  Received received;
  session_.serve([&](H1Client& client, MemoryStream& stream) -> awaitable<void> {
    auto const& wire = kUploads[0].wire;
    (void)co_await stream.write(bytes_of(wire).first(wire.size() - 5));
    co_await stream.shutdown();
    (void)co_await receive(client, received);
  });
  session_.run();
  EXPECT_EQ(received.status, 502);
  auto const kept = exchanges();
  ASSERT_THAT(kept, SizeIs(1));
  EXPECT_EQ(kept[0].outcome, Outcome::kOriginFailed);
  EXPECT_EQ(load(*reader_, kept[0].request.body), "01234");
  EXPECT_TRUE(kept[0].request.body_partial);
}

TEST_F(RecordConnectionTest, AsksForNoContentThatNoOriginGets) {
  Received received;
  session_.ask(
      "PUT / HTTP/1.1\r\nHost: a.test\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n",
      {&received});
  session_.run();
  EXPECT_EQ(received.status, 502);
  EXPECT_THAT(received.interim, IsEmpty());
  auto const kept = exchanges();
  ASSERT_THAT(kept, SizeIs(1));
  EXPECT_EQ(kept[0].request.body.size_bytes, 0U);
  EXPECT_TRUE(kept[0].request.body_partial);
}

TEST_F(RecordConnectionTest, CanBeClosedWhileItDials) {
  session_.dialer.never_connects = true;
  Received received;
  session_.ask(std::string(kGet), {&received});
  session_.context.poll();
  ASSERT_THAT(session_.dialer.dialled, SizeIs(1));
  session_.close_connections();
  session_.run();
  EXPECT_EQ(received.status, 0);
  auto const kept = exchanges();
  ASSERT_THAT(kept, SizeIs(1));
  EXPECT_EQ(kept[0].outcome, Outcome::kCutByClient);
}

TEST_F(RecordConnectionTest, SendsRequestAfterRequestOverOneConnection) {
  session_.dialer.scripts = {[](MemoryStream& stream) -> awaitable<void> {
    for (const char* const text : {"first", "second"}) {
      (void)co_await read_through(stream, "\r\n\r\n");
      (void)co_await stream.write(bytes_of(with_length(text)));
    }
    (void)co_await read_all(stream);
  }};
  Received first;
  Received second;
  session_.ask(std::string(kGet) + std::string(kGet), {&first, &second});
  session_.run();
  EXPECT_EQ(first.body, "first");
  EXPECT_EQ(second.body, "second");
  EXPECT_THAT(session_.dialer.dialled, SizeIs(1));
  auto const kept = exchanges();
  ASSERT_THAT(kept, SizeIs(2));
  EXPECT_EQ(kept[0].origin_connection_id, kept[1].origin_connection_id);
}

/// An origin that answers once, and ends the connection when it is asked again.
class StaleConnection : public RecordConnectionTest {
 protected:
  /// `mark`: as far as the origin reads the second request before it ends the connection. `end`:
  /// that of the request.
  void script(std::string mark, std::string end) {
    session_.dialer.scripts = {[this, mark](MemoryStream& stream) -> awaitable<void> {
                                 (void)co_await read_through(stream, "\r\n\r\n");
                                 (void)co_await stream.write(bytes_of(with_length("first")));
                                 (void)co_await read_through(stream, mark);
                                 stream.abort();
                                 broken_.set();
                               },
                               [this, end](MemoryStream& stream) -> awaitable<void> {
                                 sent_again_ = co_await read_through(stream, end);
                                 (void)co_await stream.write(bytes_of(with_length("second")));
                                 (void)co_await read_all(stream);
                               }};
  }
  Received ask_again(std::string_view request, const std::string& end = "\r\n\r\n") {
    script(end, end);
    Received first;
    Received second;
    session_.ask(std::string(kGet).append(request), {&first, &second});
    session_.run();
    EXPECT_EQ(first.body, "first");
    return second;
  }
  /// The second request was answered over another connection, and archived with its content.
  void expect_replaced(const Received& second, std::string_view content) {
    EXPECT_EQ(second.body, "second");
    EXPECT_THAT(session_.dialer.dialled, SizeIs(2));
    auto const kept = exchanges();
    ASSERT_THAT(kept, SizeIs(2));
    EXPECT_EQ(kept[1].outcome, Outcome::kComplete);
    EXPECT_NE(kept[0].origin_connection_id, kept[1].origin_connection_id);
    EXPECT_EQ(load(*reader_, kept[1].request.body), content);
    EXPECT_FALSE(kept[1].request.body_partial);
  }

  Event broken_;
  std::string sent_again_;
};

TEST_F(StaleConnection, IsReplacedForARequestThatMayBeSentTwice) {
  expect_replaced(ask_again(kGet), "");
}

/// Browsers send a request of any method again if no byte of a response came over a connection that
/// they used before. Here their own connection lasts, so they cannot know.
TEST_F(StaleConnection, IsReplacedForAPost) {
  expect_replaced(ask_again("POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 0\r\n\r\n"), "");
}

TEST_F(StaleConnection, IsReplacedForAnUploadOfKnownLength) {
  expect_replaced(ask_again(kUploads[0].wire, kUploads[0].mark), kContent);
  EXPECT_THAT(sent_again_, HasSubstr("\r\n\r\n0123456789"));
}

TEST_F(StaleConnection, IsReplacedForAnUploadInChunks) {
  expect_replaced(ask_again(kUploads[1].wire, kUploads[1].mark), kContent);
  EXPECT_THAT(sent_again_, HasSubstr("X-Sum: 7"));
}

TEST_F(StaleConnection, IsReplacedForAnUploadThatIsNotComplete) {
  auto const& wire = kUploads[0].wire;
  script("01234", kUploads[0].mark);
  Received first;
  Received second;
  session_.serve([&](H1Client& client, MemoryStream& stream) -> awaitable<void> {
    (void)co_await stream.write(bytes_of(kGet));
    (void)co_await receive(client, first);
    (void)co_await stream.write(bytes_of(wire).first(wire.size() - 5));
    co_await broken_.wait();
    (void)co_await stream.write(bytes_of(wire).last(5));
    (void)co_await receive(client, second);
  });
  session_.run();
  EXPECT_EQ(first.body, "first");
  expect_replaced(second, kContent);
  EXPECT_THAT(sent_again_, HasSubstr("\r\n\r\n0123456789"));
}

/// The client has the content, and sees what it would have seen without the recorder.
TEST_F(StaleConnection, EndsThatOfTheClientForAnUploadThatIsTooLongToBeKept) {
  auto const content = std::string(KeptContent::kBytesMax, '-') + "+";
  auto const second = ask_again("POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: " +
                                    std::to_string(content.size()) + "\r\n\r\n" + content,
                                "-+");
  EXPECT_EQ(second.status, 0);
  EXPECT_THAT(session_.dialer.dialled, SizeIs(1));
  auto const kept = exchanges();
  ASSERT_THAT(kept, SizeIs(2));
  EXPECT_EQ(kept[1].outcome, Outcome::kOriginFailed);
  EXPECT_EQ(load(*reader_, kept[1].request.body), content);
  EXPECT_FALSE(kept[1].request.body_partial);
}

TEST_F(RecordConnectionTest, TakesNothingForAnAnswerThatAnOriginSaysUnasked) {
  session_.dialer.scripts = {answers(with_length("first") + with_length("unasked")),
                             answers(with_length("second"))};
  Received first;
  Received second;
  session_.ask(std::string(kGet) + std::string(kGet), {&first, &second});
  session_.run();
  EXPECT_EQ(first.body, "first");
  EXPECT_EQ(second.body, "second");
}

// What an origin may say besides one final answer.

TEST_F(RecordConnectionTest, KeepsInterimHeadsAndPassesThem) {
  session_.dialer.scripts = {
      answers("HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n"
              "HTTP/1.1 102 Processing\r\n\r\n" +
              with_length("page"))};
  Received received;
  session_.ask(std::string(kGet), {&received});
  session_.run();
  EXPECT_THAT(received.interim, ElementsAre(103, 102));
  auto const kept = exchanges();
  ASSERT_THAT(kept, SizeIs(1));
  ASSERT_THAT(kept[0].interim, SizeIs(2));
  EXPECT_EQ(find_header(kept[0].interim[0].headers.list(), "Link"), "</a.css>");
}

TEST_F(RecordConnectionTest, HoldsContentBackUntilTheOriginAsksForIt) {
  std::string before;
  session_.dialer.scripts = {[&](MemoryStream& stream) -> awaitable<void> {
    (void)co_await read_through(stream, "\r\n\r\n");
    EXPECT_TRUE(stream.idle()) << "content came unasked";
    (void)co_await stream.write(bytes_of("HTTP/1.1 100 Continue\r\n\r\n"));
    before = co_await read_through(stream, "data");
    (void)co_await stream.write(bytes_of(with_length("done")));
    (void)co_await read_all(stream);
  }};
  Received received;
  session_.ask(
      "PUT / HTTP/1.1\r\nHost: a.test\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\ndata",
      {&received});
  session_.run();
  EXPECT_EQ(before, "data");
  EXPECT_EQ(received.body, "done");
  EXPECT_THAT(received.interim, ElementsAre(100));
  EXPECT_FALSE(exchanges().at(0).request.body_partial);
}

TEST_F(RecordConnectionTest, SendsNoContentToAnOriginThatRefusesItUnseen) {
  std::string after;
  session_.dialer.scripts = {[&](MemoryStream& stream) -> awaitable<void> {
    (void)co_await read_through(stream, "\r\n\r\n");
    (void)co_await stream.write(bytes_of("HTTP/1.1 417 No\r\nContent-Length: 0\r\n\r\n"));
    after = co_await read_all(stream);
  }};
  Received received;
  session_.ask(
      "PUT / HTTP/1.1\r\nHost: a.test\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n",
      {&received});
  session_.run();
  EXPECT_EQ(received.status, 417);
  EXPECT_EQ(after, "");
  EXPECT_TRUE(exchanges().at(0).request.body_partial);
}

TEST_F(RecordConnectionTest, KeepsADocumentAsItCameAndPassesItWithTheScript) {
  RecordedSession session(folder_ / "b.reprise",
                          *inject::InjectedScript::create({.document = {"ours()"}}));
  std::string const page = "<html><head><title>a</title>";
  session.dialer.scripts = {
      answers("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 28\r\n\r\n" + page)};
  Received received;
  session.ask("GET / HTTP/1.1\r\nHost: a.test\r\nAccept: text/html\r\n\r\n", {&received});
  session.run();
  EXPECT_EQ(received.body, "<html><head><script>ours()</script><title>a</title>");
  EXPECT_EQ(session.session->counters().injected, 1U);
  EXPECT_EQ(session.session->counters().injected_bytes, 23);
  auto const reader = session.archive();
  EXPECT_EQ(load(*reader, exchanges_of(*reader).at(0).response.body), page);
}

TEST_F(RecordConnectionTest, PassesWhatCameOfADocumentThatItsOriginBreaksOff) {
  std::string const part = "<!doctype html><ht";
  RecordedSession session(folder_ / "b.reprise",
                          *inject::InjectedScript::create({.document = {"ours()"}}));
  session.dialer.scripts = {[&part](MemoryStream& stream) -> awaitable<void> {
    (void)co_await read_through(stream, "\r\n\r\n");
    auto const wire =
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 28\r\n\r\n" + part;
    (void)co_await stream.write(bytes_of(wire));
  }};
  Received received;
  session.ask("GET / HTTP/1.1\r\nHost: a.test\r\nAccept: text/html\r\n\r\n", {&received});
  session.run();
  EXPECT_EQ(received.status, 200);
  EXPECT_EQ(received.body, part);
  EXPECT_FALSE(received.whole);
  EXPECT_EQ(session.session->counters().injected, 0U);
  auto const reader = session.archive();
  auto const kept = exchanges_of(*reader).at(0);
  EXPECT_EQ(kept.outcome, Outcome::kCutByOrigin);
  EXPECT_EQ(load(*reader, kept.response.body), part);
}

TEST_F(RecordConnectionTest, TakesASwitchThatNobodyAskedForAsAFailure) {
  session_.dialer.scripts = {answers(
      "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")};
  Received received;
  session_.ask(std::string(kGet), {&received});
  session_.run();
  EXPECT_EQ(received.status, 502);
  EXPECT_EQ(exchanges().at(0).outcome, Outcome::kOriginFailed);
}

}  // namespace
}  // namespace reprise
