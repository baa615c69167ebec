#include "proxy/record/exchange_recorder.h"

#include <gmock/gmock.h>

#include "archive/record.h"
#include "tests/archive/file_size_limit.h"
#include "tests/proxy/record/recorded_session.h"

namespace reprise {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

/// A request's content, of which no more comes.
class EndedContent final : public BodyReader {
 public:
  Task<Bytes> read() override { co_return fail(std::make_error_code(std::errc::connection_reset)); }
  bool finished() const override { return whole; }
  HeaderList trailers() const override { return {}; }

  bool whole = true;
};

class ExchangeRecorderTest : public testing::Test {
 protected:
  std::optional<ExchangeRecorder>& begin(std::string_view protocol = {}) {
    RequestHead const head{.method = "POST",
                           .host = "a.test",
                           .port = 80,
                           .target = "/",
                           .headers = {},
                           .protocol = protocol};
    recorder_.emplace(*session_.session, ExchangeContext{.connection = client_}, head, content_);
    return recorder_;
  }
  const RecordSession::Counters& counters() { return session_.session->counters(); }
  std::vector<Exchange> kept() {
    recorder_.reset();
    reader_ = session_.archive();
    return exchanges_of(*reader_);
  }

  ScratchFolder folder_;
  RecordedSession session_{folder_ / "a.reprise"};
  ConnectionInfo client_{.id = 7};
  EndedContent content_;
  std::optional<ExchangeRecorder> recorder_;
  std::unique_ptr<ArchiveReader> reader_;
};

TEST_F(ExchangeRecorderTest, KeepsAllOfAnExchange) {
  auto& recorder = begin();
  EXPECT_EQ(counters().in_flight, 1U);
  ASSERT_TRUE(recorder->request_bytes(bytes_of("question")));
  std::vector<HeaderView> const sent{{"X-Sent", "1"}};
  std::vector<HeaderView> const got{{"X-Got", "2"}};
  recorder->request_sent(sent);
  recorder->response({.version = HttpVersion::kHttp11, .status = 201, .reason = "Made"});
  ASSERT_TRUE(recorder->response_bytes(bytes_of("ans")));
  ASSERT_TRUE(recorder->response_bytes(bytes_of("wer")));
  ASSERT_TRUE(recorder->complete(got));
  EXPECT_EQ(counters().complete, 1U);
  EXPECT_EQ(counters().body_bytes, 6U);
  EXPECT_EQ(counters().in_flight, 0U);
  auto const exchanges = kept();
  ASSERT_THAT(exchanges, SizeIs(1));
  auto const& exchange = exchanges[0];
  EXPECT_EQ(exchange.sequence, 1U);
  EXPECT_EQ(exchange.client_connection_id, 7U);
  EXPECT_EQ(exchange.outcome, Outcome::kComplete);
  EXPECT_EQ(load(*reader_, exchange.request.body), "question");
  EXPECT_EQ(load(*reader_, exchange.response.body), "answer");
  EXPECT_EQ(exchange.request.trailers, Headers({{"X-Sent", "1"}}));
  EXPECT_EQ(exchange.response.trailers, Headers({{"X-Got", "2"}}));
  EXPECT_EQ(exchange.response.chunk_times.back().end_bytes, 6U);
  EXPECT_FALSE(exchange.request.body_partial);
}

TEST_F(ExchangeRecorderTest, KeepsWhatNobodyEndedAsCutByTheClient) {
  auto& recorder = begin();
  recorder->response({.version = HttpVersion::kHttp11, .status = 200, .reason = "OK"});
  ASSERT_TRUE(recorder->response_bytes(bytes_of("half of ")));
  recorder.reset();
  EXPECT_EQ(counters().cut, 1U);
  EXPECT_EQ(counters().in_flight, 0U);
  auto const exchanges = kept();
  ASSERT_THAT(exchanges, SizeIs(1));
  EXPECT_EQ(exchanges[0].outcome, Outcome::kCutByClient);
  EXPECT_EQ(load(*reader_, exchanges[0].response.body), "half of ");
}

TEST_F(ExchangeRecorderTest, SaysThatContentIsPartialWhateverTheEndIs) {
  content_.whole = false;
  for (Outcome const outcome :
       {Outcome::kCutByClient, Outcome::kCutByOrigin, Outcome::kOriginFailed}) {
    auto& recorder = begin();
    ASSERT_TRUE(recorder->request_bytes(bytes_of("half of ")));
    recorder->fail_with(outcome, "broken");
  }
  ASSERT_TRUE(begin()->request_bytes(bytes_of("half of ")));
  auto const exchanges = kept();
  ASSERT_THAT(exchanges, SizeIs(4));
  for (const Exchange& exchange : exchanges) EXPECT_TRUE(exchange.request.body_partial);
}

TEST_F(ExchangeRecorderTest, TakesNoBytesOfAnotherProtocolForContent) {
  content_.whole = false;
  begin("websocket")->fail_with(Outcome::kOriginFailed, "cannot connect");
  EXPECT_FALSE(kept().at(0).request.body_partial);
}

TEST_F(ExchangeRecorderTest, EndsOnceAndTakesNothingBehindThat) {
  auto& recorder = begin();
  recorder->response({.version = HttpVersion::kHttp11, .status = 413, .reason = "Enough"});
  ASSERT_TRUE(recorder->request_bytes(bytes_of("much")));
  content_.whole = false;
  ASSERT_TRUE(recorder->complete({}));
  EXPECT_TRUE(recorder->request_bytes(bytes_of(" more")));
  recorder->request_sent({});
  recorder->fail_with(Outcome::kCutByOrigin, "too late");
  auto const exchanges = kept();
  ASSERT_THAT(exchanges, SizeIs(1));
  EXPECT_EQ(exchanges[0].outcome, Outcome::kComplete);
  EXPECT_TRUE(exchanges[0].request.body_partial);
  EXPECT_EQ(load(*reader_, exchanges[0].request.body), "much");
}

TEST_F(ExchangeRecorderTest, KeepsOnlySoManyInterimHeads) {
  auto& recorder = begin();
  for (std::size_t i = 0; i < ExchangeRecorder::kInterimMax + 5; ++i) {
    recorder->interim({.version = HttpVersion::kHttp11, .status = 102});
  }
  recorder->response({.version = HttpVersion::kHttp11, .status = 200, .reason = "OK"});
  ASSERT_TRUE(recorder->complete({}));
  EXPECT_THAT(kept().at(0).interim, SizeIs(ExchangeRecorder::kInterimMax));
}

TEST_F(ExchangeRecorderTest, LeavesOutAnExchangeThatNoRecordHoldsAndGoesOn) {
  std::string const value(kPayloadBytesMax, 'x');
  std::vector<HeaderView> const fields{{"X-Long", value}};
  auto& recorder = begin();
  recorder->response(
      {.version = HttpVersion::kHttp11, .status = 200, .reason = "OK", .headers = fields});
  EXPECT_EQ(recorder->complete({}).error(), archive_errc::too_large);
  EXPECT_EQ(counters().failed, 1U);
  begin()->response({.version = HttpVersion::kHttp11, .status = 200, .reason = "OK"});
  EXPECT_TRUE(recorder_->complete({}));
  EXPECT_THAT(session_.archive_errors, IsEmpty()) << "the archive itself is fine";
  EXPECT_THAT(kept(), SizeIs(1));
}

TEST_F(ExchangeRecorderTest, OnAFullDiskFailsEachThatEndsAndTellsOnce) {
  FileSizeLimit const full(session_.writer->size_bytes());
  for (int i = 0; i < 2; ++i) {
    auto& recorder = begin();
    recorder->response({.version = HttpVersion::kHttp11, .status = 200, .reason = "OK"});
    ASSERT_TRUE(recorder->response_bytes(bytes_of("text"))) << "small bodies are held";
    EXPECT_FALSE(recorder->complete({}));
    recorder.reset();
  }
  begin().reset();
  EXPECT_THAT(session_.archive_errors, SizeIs(1));
  EXPECT_EQ(counters().in_flight, 0U);
  EXPECT_EQ(counters().complete, 0U);
}

TEST_F(ExchangeRecorderTest, OnAFullDiskFailsTheChunkOfALargeBody) {
  FileSizeLimit const full(session_.writer->size_bytes());
  std::vector<std::byte> const chunk(ArchiveWriter::kChunkBytes);
  auto& recorder = begin();
  std::size_t taken = 0;
  while (taken < 16 && recorder->response_bytes(chunk)) ++taken;
  EXPECT_EQ(taken, ArchiveWriter::kSmallBodyBytesMax / ArchiveWriter::kChunkBytes);
  EXPECT_FALSE(recorder->complete({}));
  EXPECT_THAT(session_.archive_errors, SizeIs(1));
}

}  // namespace
}  // namespace reprise
