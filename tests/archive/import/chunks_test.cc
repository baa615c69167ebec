// Chunks in bodies of WARC records: which bodies have them.

#include "tests/archive/import/import_fixture.h"

namespace reprise::importing {
namespace {

class ImportChunks : public ImportTest {};

TEST_F(ImportChunks, UndoesRealChunksAndLeavesBodiesThatHaveNone) {
  std::string const head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  ASSERT_EQ(import(record("response", about("a"), head + "4\r\nbody\r\n0\r\n\r\n") +
                   record("response", about("b"), head + "body, not chunked") +
                   record("response", about("c"), head + "4\r\nbody\r\nff\r\ncut")),
            "");
  EXPECT_EQ(body(0), "body");
  EXPECT_EQ(body(1), "body, not chunked");
  EXPECT_EQ(body(2), "bodycut");
  EXPECT_EQ(sink.exchanges[1].outcome, Outcome::kComplete);
  EXPECT_EQ(sink.exchanges[2].outcome, Outcome::kCutByOrigin);
}

TEST_F(ImportChunks, TextThatBeginsWithANumberIsNoChunk) {
  std::string const head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (std::string const text : {"2020\n1;2\n", "12\nfoo", "1\n", "10\r\n20\r\n30\r\n", "ff\r\n"}) {
    ASSERT_EQ(import(record("response", about("a"), head + text)), "");
    EXPECT_EQ(body(0), text);
    EXPECT_EQ(sink.exchanges[0].outcome, Outcome::kComplete);
  }
}

TEST_F(ImportChunks, ALongTextThatBeginsWithANumberIsNoChunk) {
  auto const text = "20200101\r\n" + std::string(2'000'000, 'x');
  ASSERT_EQ(import(record("response", about("a"),
                          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + text)),
            "");
  EXPECT_TRUE(body(0) == text);
  EXPECT_EQ(sink.exchanges.at(0).outcome, Outcome::kComplete);
}

TEST_F(ImportChunks, ANumberBeginsAChunkIfTheRecordWasCutInIt) {
  auto const cut = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10\r\nbody";
  ASSERT_EQ(import(record("response", about("a", "WARC-Truncated: length\r\n"), cut)), "");
  EXPECT_EQ(body(0), "body");
  EXPECT_EQ(sink.exchanges.at(0).outcome, Outcome::kCutByClient);
  auto const whole = record("response", about("a"), std::string(cut) + " and more");
  EXPECT_NE(import(whole.substr(0, whole.size() - 13), true), "");
  EXPECT_EQ(body(0), "body");
  EXPECT_EQ(sink.exchanges.at(0).outcome, Outcome::kCutByClient);
}

TEST_F(ImportChunks, AnEmptyLineMoreAfterTheChunksIsNoDamage) {
  std::string const large(2'000'000, 'x');
  ASSERT_EQ(import(record("response", about("a"),
                          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1e8480\r\n" +
                              large + "\r\n0\r\n\r\n\r\n")),
            "");
  EXPECT_EQ(sink.exchanges.at(0).outcome, Outcome::kComplete);
  EXPECT_EQ(body(0).size(), large.size());
}

TEST_F(ImportChunks, UndoesChunksOfALongBodyInPieces) {
  std::string const piece(300'000, 'x');
  std::string chunks;
  for (int i = 0; i < 10; ++i) chunks += "493e0\r\n" + piece + "\r\n";
  ASSERT_EQ(import(record(
                "response", about("a"),
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks + "0\r\n\r\n")),
            "");
  EXPECT_EQ(body(0).size(), 3'000'000U);
}

}  // namespace
}  // namespace reprise::importing
