#include "analysis/differences/recorded_page.h"

#include <gmock/gmock.h>

#include <string>
#include <string_view>
#include <vector>

#include "analysis/differences/permissions.h"
#include "tests/archive/archive_fixture.h"

namespace reprise {
namespace {

using testing::IsEmpty;

class PageBodiesTest : public testing::Test {
 protected:
  void record(std::string_view body, std::string_view coding = "",
              Outcome outcome = Outcome::kComplete) {
    auto const path = folder_ / "a.reprise";
    std::filesystem::remove(path);
    auto const writer = create_archive(path);
    ASSERT_TRUE(writer->begin_session(a_session()));
    auto exchange = an_exchange(1, "/app.js");
    exchange.outcome = outcome;
    exchange.response.body = store(*writer, body);
    if (!coding.empty()) {
      exchange.response.headers = {{.name = "Content-Encoding", .value = coding}};
    }
    add(*writer, std::move(exchange));
    ASSERT_TRUE(writer->end_session());
    ASSERT_TRUE(writer->close());
    reader_ = open_archive(path);
    auto const page = RecordedPage::read(*reader_, reader_->sessions().front().number);
    ASSERT_EQ(page.exchanges.size(), 1u);
    of_ = page.exchanges.front();
  }
  std::vector<std::string> wire_digests() const { return bodies_of(*reader_).wire_digests(of_); }

  ScratchFolder folder_;
  std::unique_ptr<ArchiveReader> reader_;
  RecordedExchange of_;
};

TEST_F(PageBodiesTest, ABodyWithoutACodingHasTheDigestsOfItsBytes) {
  record("code()");
  EXPECT_EQ(wire_digests(), digests_of("code()"));
  EXPECT_EQ(bodies_of(*reader_).plain(of_), "code()");
  for (auto const* const without_effect : {"identity", "utf-8"}) {
    record("code()", without_effect);
    EXPECT_EQ(wire_digests(), digests_of("code()")) << without_effect;
  }
}

TEST_F(PageBodiesTest, ALargeBodyIsDigestedAndNotDecoded) {
  auto const code = noise(kComparedBytesMax + 1, 1);
  record(code);
  EXPECT_FALSE(bodies_of(*reader_).plain(of_));
  EXPECT_EQ(wire_digests(), digests_of(code));
}

TEST_F(PageBodiesTest, ABodyInAnUnknownCodingHasTheDigestsOfItsBytes) {
  record("code()", "compress");
  EXPECT_FALSE(bodies_of(*reader_).plain(of_));
  EXPECT_EQ(wire_digests(), digests_of("code()"));
}

TEST_F(PageBodiesTest, ABodyInAKnownCodingIsNotDigestedAsItCame) {
  record("no brotli", "br");
  EXPECT_FALSE(bodies_of(*reader_).plain(of_));
  EXPECT_THAT(wire_digests(), IsEmpty());
}

TEST_F(PageBodiesTest, OnlyAWholeBodyIsDigested) {
  record("code()", "", Outcome::kCutByOrigin);
  EXPECT_THAT(wire_digests(), IsEmpty());
  for (int const more : {-1, 1}) {
    record("code()");
    of_.size_bytes = static_cast<std::uint64_t>(6 + more);
    EXPECT_THAT(wire_digests(), IsEmpty()) << more;
  }
}

}  // namespace
}  // namespace reprise
