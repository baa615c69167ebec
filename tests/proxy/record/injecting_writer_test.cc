#include "proxy/record/injecting_writer.h"

#include <gmock/gmock.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

namespace reprise {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

/// A client that takes what it gets, until it is gone.
class Client final : public ResponseWriter {
 public:
  Task<void> send_head(const ResponseHead& head) override {
    status = head.status;
    reason = head.reason;
    headers = Headers(head.headers);
    co_return gone ? fail(std::make_error_code(std::errc::connection_reset)) : Result<void>{};
  }
  Task<void> write(Bytes bytes) override {
    EXPECT_NE(status, 0) << "content before the head";
    content += text_of(bytes);
    co_return gone ? fail(std::make_error_code(std::errc::connection_reset)) : Result<void>{};
  }
  Task<void> finish(HeaderList) override {
    finished = true;
    co_return Result<void>{};
  }
  Task<void> send_stored(StoredResponsePtr) override { co_return Result<void>{}; }
  bool head_sent() const override { return status != 0; }
  Task<void> pause_until(std::chrono::steady_clock::time_point) override {
    co_return Result<void>{};
  }
  awaitable<void> client_gone() override { co_return; }

  std::uint16_t status = 0;
  std::string reason;
  Headers headers;
  std::string content;
  bool finished = false;
  bool gone = false;
};

class InjectingWriterTest : public testing::Test {
 protected:
  Result<void> run(Task<void> task) {
    Result<void> result;
    net::co_spawn(context_, std::move(task), [&](std::exception_ptr broken, Result<void> returned) {
      if (broken) std::rethrow_exception(broken);
      result = returned;
    });
    context_.restart();
    context_.poll();
    EXPECT_TRUE(context_.stopped());
    return result;
  }
  Result<void> send_head(std::vector<HeaderView> fields) {
    return run(writer.send_head({.status = 200, .reason = "Fine", .headers = fields}));
  }
  Result<void> write(std::string_view text) { return run(writer.write(bytes_of(text))); }
  Result<void> finish() { return run(writer.finish({})); }

  static std::string gzip(std::string_view text) {
    coding::Buffer coded;
    constexpr std::array kCodings = {coding::Coding::kGzip};
    coding::Encoder encoder(kCodings, 6);
    encoder.write(bytes_of(text), coding::Until::kEnd, coded);
    return std::string(text_of(coded));
  }

  net::io_context context_;
  Client client;
  inject::InjectedScript script = *inject::InjectedScript::create({.document = {"ours()"}});
  std::vector<HeaderView> accepts{{"Accept", "text/html"}};
  RequestHead request{.method = "GET", .headers = accepts};
  InjectingWriter writer{client, &script, request};
};

TEST_F(InjectingWriterTest, HoldsHeadAndContentUntilItKnowsThePlace) {
  ASSERT_TRUE(send_head({{"Content-Type", "text/html"}, {"Content-Length", "43"}}));
  ASSERT_TRUE(write("<!doctype html><ht"));
  EXPECT_EQ(client.status, 0);
  ASSERT_TRUE(write("ml><head><title>"));
  EXPECT_EQ(client.status, 200);
  EXPECT_EQ(client.reason, "Fine");
  EXPECT_EQ(find_header(client.headers.list(), "Content-Length"), "66");
  ASSERT_TRUE(write("a</title>"));
  ASSERT_TRUE(finish());
  EXPECT_TRUE(client.finished);
  EXPECT_EQ(client.content, "<!doctype html><html><head><script>ours()</script><title>a</title>");
  ASSERT_NE(writer.report(), nullptr);
  EXPECT_EQ(writer.report()->verdict, inject::Verdict::kRewritten);
}

TEST_F(InjectingWriterTest, SendsInChunksWhatCannotTellItsLength) {
  auto const coded = gzip("<html><head><title>a</title>");
  auto const length = std::to_string(coded.size());
  ASSERT_TRUE(send_head(
      {{"Content-Type", "text/html"}, {"Content-Encoding", "gzip"}, {"Content-Length", length}}));
  ASSERT_TRUE(write(coded));
  ASSERT_TRUE(finish());
  EXPECT_EQ(find_header(client.headers.list(), "Content-Length"), std::nullopt);
  EXPECT_EQ(find_header(client.headers.list(), "Transfer-Encoding"), "chunked");
  constexpr std::array kCodings = {coding::Coding::kGzip};
  coding::Decoder decoder(kCodings, {});
  coding::Buffer plain;
  ASSERT_TRUE(decoder.write(bytes_of(client.content), plain));
  EXPECT_EQ(text_of(plain), "<html><head><script>ours()</script><title>a</title>");
}

TEST_F(InjectingWriterTest, PassesADocumentWithoutAPlaceAtItsEnd) {
  ASSERT_TRUE(send_head({{"Content-Type", "text/html"}, {"Content-Length", "6"}}));
  ASSERT_TRUE(write("<!-- a"));
  EXPECT_EQ(client.status, 0);
  ASSERT_TRUE(finish());
  EXPECT_EQ(client.status, 200);
  EXPECT_THAT(client.content, HasSubstr("<!-- a"));
  EXPECT_TRUE(client.finished);
}

TEST_F(InjectingWriterTest, PassesWhatIsNoDocumentAtOnce) {
  ASSERT_TRUE(send_head({{"Content-Type", "image/png"}, {"Content-Length", "4"}}));
  EXPECT_EQ(client.status, 200);
  EXPECT_EQ(find_header(client.headers.list(), "Content-Length"), "4");
  ASSERT_TRUE(write("<he>"));
  EXPECT_EQ(client.content, "<he>");
  ASSERT_TRUE(finish());
  EXPECT_EQ(writer.report(), nullptr);
}

TEST_F(InjectingWriterTest, PassesTheAnswerToHead) {
  request.method = "HEAD";
  ASSERT_TRUE(send_head({{"Content-Type", "text/html"}, {"Content-Length", "44"}}));
  EXPECT_EQ(find_header(client.headers.list(), "Content-Length"), "44");
  ASSERT_TRUE(finish());
  EXPECT_TRUE(client.finished);
}

TEST_F(InjectingWriterTest, WithoutAScriptPassesEverything) {
  InjectingWriter plain(client, nullptr, request);
  std::vector<HeaderView> const fields{{"Content-Type", "text/html"}};
  ASSERT_TRUE(run(plain.send_head({.status = 200, .headers = fields})));
  EXPECT_EQ(client.status, 200);
  ASSERT_TRUE(run(plain.write(bytes_of("<html><head>"))));
  ASSERT_TRUE(run(plain.finish({})));
  EXPECT_EQ(client.content, "<html><head>");
}

TEST_F(InjectingWriterTest, PassesADocumentWhoseGzipTrailerIsMissing) {
  auto coded = gzip("<html><head><title>a</title>");
  coded.resize(coded.size() - 8);
  ASSERT_TRUE(send_head({{"Content-Type", "text/html"}, {"Content-Encoding", "gzip"}}));
  ASSERT_TRUE(write(coded));
  ASSERT_TRUE(finish());
  EXPECT_TRUE(client.finished);
  EXPECT_EQ(writer.report()->verdict, inject::Verdict::kRewritten);
}

TEST_F(InjectingWriterTest, SendsWhatIsHeldAsReceivedWhenTheOriginBreaksOff) {
  ASSERT_TRUE(send_head({{"Content-Type", "text/html"}, {"Content-Length", "43"}}));
  ASSERT_TRUE(write("<!doctype html><ht"));
  EXPECT_EQ(client.status, 0);
  ASSERT_TRUE(run(writer.abandon()));
  EXPECT_EQ(client.status, 200);
  EXPECT_EQ(client.reason, "Fine");
  EXPECT_EQ(find_header(client.headers.list(), "Content-Length"), "43");
  EXPECT_EQ(client.content, "<!doctype html><ht");
  EXPECT_FALSE(client.finished);
  ASSERT_TRUE(run(writer.abandon()));
  EXPECT_EQ(client.content, "<!doctype html><ht");
}

TEST_F(InjectingWriterTest, BreaksAMessageWhoseCodingTurnsOutToBeALie) {
  std::string page = "<html><head><title>a</title>";
  page.append(0x7fff - page.size(), '-');
  // A stored block of 0x7fff bytes (RFC 1951 section 3.2.4), after a head as that of gzip().
  auto const block = gzip("").substr(0, 10) + std::string("\0\xff\x7f\0\x80", 5) + page;
  ASSERT_TRUE(send_head({{"Content-Type", "text/html"}, {"Content-Encoding", "gzip"}}));
  ASSERT_TRUE(write(block));
  EXPECT_EQ(client.status, 200);
  EXPECT_TRUE(write(std::string(1000, '\xff'))) << "the recording goes on";
  auto const sent = client.content.size();
  EXPECT_TRUE(write(block));
  EXPECT_EQ(client.content.size(), sent);
  EXPECT_FALSE(finish());
  EXPECT_FALSE(client.finished);
}

TEST_F(InjectingWriterTest, PassesWhatWasNeverInItsCoding) {
  ASSERT_TRUE(send_head({{"Content-Type", "text/html"}, {"Content-Encoding", "gzip"}}));
  ASSERT_TRUE(write("<html><head>"));
  ASSERT_TRUE(finish());
  EXPECT_EQ(client.content, "<html><head>");
  EXPECT_TRUE(client.finished);
  EXPECT_EQ(writer.report()->verdict, inject::Verdict::kUndecoded);
}

TEST_F(InjectingWriterTest, TellsOfAClientThatIsGoneWhenTheHeadThatWasHeldIsSent) {
  client.gone = true;
  ASSERT_TRUE(send_head({{"Content-Type", "text/html"}}));
  EXPECT_EQ(write("<html><head><title>").error(), std::errc::connection_reset);
  EXPECT_THAT(client.content, IsEmpty());
}

}  // namespace
}  // namespace reprise
