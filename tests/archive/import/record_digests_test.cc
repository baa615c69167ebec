#include "archive/import/collect/record_digests.h"

#include "tests/archive/import/import_fixture.h"

namespace reprise::importing {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

const std::string kHead = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
const std::string kChunks = "4\r\nbody\r\n0\r\n\r\n";

/// SHA-1 of "body", as tools write it.
constexpr std::string_view kBodyDigests[] = {"sha1:02083F4579E08A612425C0C1A17EE47ADD783B94",
                                             "sha1:02083f4579e08a612425c0c1a17ee47add783b94",
                                             "SHA-1:AIED6RLZ4CFGCJBFYDA2C7XEPLOXQO4U",
                                             "sha1:aied6rlz4cfgcjbfyda2c7xeploxqo4u",
                                             "sha1:Agg/RXngimEkJcDBoX7ket14O5Q=",
                                             "sha1:Agg_RXngimEkJcDBoX7ket14O5Q"};

/// SHA-256 of `text` as a payload digest.
std::string payload_digest(std::string_view text) {
  return "WARC-Payload" + block_digest(text).substr(std::string_view("WARC-Block").size());
}

class ImportDigests : public ImportTest {};

TEST_F(ImportDigests, RefuseABlockThatTheyDoNotFit) {
  auto const good = record("response", about("a", block_digest(kResponse)), kResponse);
  ASSERT_EQ(import(good), "");
  auto bad = good;
  bad[bad.rfind("body")] ^= 1;
  auto const fault = import(good + bad);
  EXPECT_THAT(fault, HasSubstr("record 2 at byte " + std::to_string(good.size()) +
                               ": its block digest is sha256:"));
  EXPECT_THAT(fault, HasSubstr(", but its block has sha256:"));
  EXPECT_THAT(fault, HasSubstr("http://a.test/x"));
}

TEST_F(ImportDigests, KeepWhatTheyDoNotFitWhenToldSoAndNameIt) {
  auto bad = record("response", about("a", block_digest(kResponse)), kResponse);
  bad[bad.rfind("body")] ^= 1;
  EXPECT_THAT(import(bad + bad, true), HasSubstr("its block digest"));
  EXPECT_EQ(report.exchanges, 2U);
  EXPECT_EQ(report.damaged, 2U);
  EXPECT_THAT(report.remarks, testing::ElementsAre(HasSubstr("record 2 at byte")));
}

TEST_F(ImportDigests, AreReadInEveryFormThatToolsWrite) {
  for (auto const digest : kBodyDigests) {
    auto const head = about("a", "WARC-Payload-Digest: " + std::string(digest) + "\r\n");
    EXPECT_EQ(import(record("response", head, kResponse)), "") << digest;
    EXPECT_THAT(report.remarks, IsEmpty()) << digest;
    EXPECT_THAT(import(record("response", head, kResponse + "x")), HasSubstr("payload digest"))
        << digest;
  }
}

TEST_F(ImportDigests, OfAPayloadMayBeOverTheBodyAsStoredDechunkedDecodedOrTheBlock) {
  auto const coded = gzip("body");
  auto const chunked_coded = "1d\r\n" + coded + "\r\n0\r\n\r\n";
  ASSERT_EQ(coded.size(), 0x18U);
  auto const plain = kHead + kChunks;
  for (auto const& [block, digest] :
       {std::pair(plain, payload_digest(kChunks)), std::pair(plain, payload_digest("body")),
        std::pair(plain, payload_digest(plain)), std::pair(kHead + coded, payload_digest("body")),
        std::pair(kHead + "18\r\n" + coded + "\r\n0\r\n\r\n", payload_digest(coded)),
        std::pair(kHead + "18\r\n" + coded + "\r\n0\r\n\r\n", payload_digest("body"))}) {
    EXPECT_EQ(import(record("response", about("a", digest), block)), "") << digest;
    EXPECT_THAT(import(record("response", about("a", digest), block + "x")), HasSubstr("digest"));
  }
}

TEST_F(ImportDigests, OfABlockThatFitsMakeThatOfThePayloadAMatterOfTaste) {
  EXPECT_EQ(import(record("response", about("a", block_digest(kResponse) + payload_digest("?")),
                          kResponse)),
            "");
}

TEST_F(ImportDigests, OfWhatStandsElsewhereOrWasCutAreNotCompared) {
  for (auto const* const more : {"WARC-Truncated: length\r\n", "WARC-Segment-Number: 1\r\n"}) {
    EXPECT_EQ(import(record("response", about("a", payload_digest("?") + more), kResponse)), "");
  }
  EXPECT_EQ(import(record("revisit", about("a", payload_digest("?")), kResponse)), "");
}

TEST_F(ImportDigests, OfUnknownKindOrLengthAreNotComparedAndSaidSo) {
  for (auto const* const digest : {"tiger:AAAA", "sha1:AAAA", "sha1:", "nonsense"}) {
    auto const head = about("a", "WARC-Block-Digest: " + std::string(digest) + "\r\n");
    EXPECT_EQ(import(record("response", head, kResponse)), "") << digest;
    EXPECT_THAT(report.remarks, testing::ElementsAre(HasSubstr("some digests are not checked")));
  }
}

TEST_F(ImportDigests, OfALongPayloadAreThoseOfTheBodyAsStored) {
  std::string const body(RecordDigests::kHeldBytesMax + 1'000'000, 'x');
  auto const block = "HTTP/1.1 200 OK\r\n\r\n" + body;
  EXPECT_EQ(import(record("response", about("a", payload_digest(body)), block)), "");
  EXPECT_THAT(import(record("response", about("a", payload_digest(body)), block + "x")),
              HasSubstr("payload digest"));
  EXPECT_EQ(import(record("response", about("a", payload_digest("other")), kHead + body)), "");
  EXPECT_THAT(report.remarks, testing::ElementsAre(HasSubstr("some digests are not checked")));
}

}  // namespace
}  // namespace reprise::importing
