#include "tests/archive/import/import_fixture.h"

namespace reprise::importing {
namespace {

/// A HAR of one WebSocket, with one message and this response.
std::string har_of(const std::string& version, const std::string& status) {
  return R"({"log":{"entries":[{"startedDateTime":"2020-01-01T00:00:01.500Z",)"
         R"("_webSocketMessages":[{"type":"send","time":1e9,"opcode":1,"data":"hello"}],)"
         R"("request":{"method":"GET","url":"wss://a.test/x","httpVersion":")" +
         version + R"("},"response":{"status":)" + status +
         R"(,"headers":[{"name":"A","value":"1"}],"content":{"size":0}}}]}})";
}

class ImportHarWebSocket : public ImportTest {};

TEST_F(ImportHarWebSocket, OverHttp3ASuccessOpensAWebSocket) {
  ASSERT_EQ(import(har_of("h3", "200")), "");
  EXPECT_TRUE(opens_web_socket(sink.exchanges.at(0)));
  EXPECT_EQ(sink.exchanges[0].outcome, Outcome::kComplete);
  EXPECT_THAT(sink.messages, testing::ElementsAre("client text hello"));
}

TEST_F(ImportHarWebSocket, CountsTheMessagesOfAWebSocketThatWasNotOpened) {
  for (auto const& [status, outcome] :
       {std::pair("200", Outcome::kCutByClient), std::pair("403", Outcome::kComplete),
        std::pair("0", Outcome::kOriginFailed)}) {
    SCOPED_TRACE(status);
    ASSERT_EQ(import(har_of("http/1.1", status)), "");
    EXPECT_FALSE(opens_web_socket(sink.exchanges.at(0)));
    EXPECT_EQ(sink.exchanges[0].outcome, outcome);
    EXPECT_EQ(report.websocket_messages, 1U);
    EXPECT_EQ(report.messages, 0U);
    EXPECT_EQ(report.statuses_assumed, 0U);
  }
}

}  // namespace
}  // namespace reprise::importing
