#include "proxy/replay/response/stitched_parts.h"

#include "tests/proxy/replay/recorded_archive.h"

namespace reprise {
namespace {

const std::string kFile = "0123456789abcdefghij";

/// Parts of a file of 20 bytes.
class Stitched : public testing::Test {
 protected:
  void record(std::size_t begin, std::size_t end, const std::string& etag = "\"v1\"",
              const std::string& total = "20") {
    auto const place =
        "bytes " + std::to_string(begin) + "-" + std::to_string(end - 1) + "/" + total;
    auto part = RecordedArchive::exchange("GET", "/file",
                                          {{.name = "ETag", .value = etag},
                                           {.name = "Content-Range", .value = place},
                                           {.name = "X-Kept", .value = "1"}});
    part.response.status = 206;
    archive_.add(std::move(part), std::string_view(kFile).substr(begin, end - begin));
  }
  void record_cut(std::size_t size) {
    auto cut = RecordedArchive::exchange(
        "GET", "/file",
        {{.name = "ETag", .value = "\"v1\""}, {.name = "Content-Length", .value = "20"}});
    cut.outcome = Outcome::kCutByClient;
    archive_.add(std::move(cut), std::string_view(kFile).substr(0, size));
  }

  /// The parts, as the first recorded one gives them.
  StitchedParts* stitched(bool cut_too = true) {
    auto const& reader = archive_.reader();
    auto const first = reader.ordinals_in_order().front();
    first_ = reader.exchange(first).value();
    like_ = std::make_unique<StoredResponse>(
        "GET", StoredResponse::Parts{.head = {.version = HttpVersion::kHttp11,
                                              .status = first_.response.status,
                                              .headers = first_.response.headers.list()}});
    made_ =
        StitchedParts::of({.archive = reader, .cut_too = cut_too, .on_damage = {}}, first, *like_);
    return made_.get();
  }
  bool answers(std::string_view range, std::string_view method = "GET") {
    std::vector<HeaderView> fields;
    if (!range.empty()) fields.push_back({.name = "Range", .value = range});
    return made_->have(select(method, fields, made_->whole()));
  }
  std::string whole_text() const {
    auto const& pieces = *made_->whole().response->parts().pieces;
    std::string text;
    for (std::size_t i = 0; i < pieces.pieces(); ++i) {
      auto const piece = pieces.piece(i).value();
      text.append(reinterpret_cast<const char*>(piece.data()), piece.size());
    }
    return text;
  }

 private:
  RecordedArchive archive_;
  Exchange first_;
  std::unique_ptr<StoredResponse> like_;
  std::unique_ptr<StitchedParts> made_;
};

TEST_F(Stitched, PartsThatCoverTheFileAreTheFile) {
  record(12, 20);
  record(0, 7);
  record(5, 13);
  ASSERT_NE(stitched(), nullptr);
  EXPECT_TRUE(answers(""));
  EXPECT_TRUE(answers("bytes=3-15"));
  EXPECT_EQ(whole_text(), kFile);
  auto const& head = stitched()->whole().response->parts().head;
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(find_header(head.headers, "Content-Length"), "20");
  EXPECT_EQ(find_header(head.headers, "Content-Range"), std::nullopt);
  EXPECT_EQ(find_header(head.headers, "X-Kept"), "1");
}

TEST_F(Stitched, GapsAreNotAnswered) {
  record(0, 7);
  record(10, 15);
  ASSERT_NE(stitched(), nullptr);
  EXPECT_TRUE(answers("bytes=0-6"));
  EXPECT_TRUE(answers("bytes=2-3,11-14"));
  EXPECT_TRUE(answers("bytes=100-"));  // 416: nothing is needed for it
  EXPECT_TRUE(answers("", "HEAD"));
  EXPECT_FALSE(answers("bytes=6-7"));
  EXPECT_FALSE(answers("bytes=10-"));
  EXPECT_FALSE(answers("bytes=-1"));
  EXPECT_FALSE(answers(""));
  EXPECT_EQ(stitched()->coverage(), "bytes 0-6, 10-14 of 20");
}

TEST_F(Stitched, OtherVersionsAreOtherFiles) {
  record(0, 7);
  record(7, 20, "\"v2\"");
  record(7, 20, "\"v1\"", "21");
  record(7, 20, "W/\"v1\"");
  ASSERT_NE(stitched(), nullptr);
  EXPECT_EQ(stitched()->parts(), 1U);
  EXPECT_EQ(stitched()->coverage(), "bytes 0-6 of 20");
}

TEST_F(Stitched, WithoutAValidatorAPartStandsAlone) {
  record(0, 7, "");
  record(7, 20, "");
  ASSERT_NE(stitched(), nullptr);
  EXPECT_TRUE(answers("bytes=1-2"));
  EXPECT_EQ(stitched()->parts(), 1U);
}

TEST_F(Stitched, WhatWasCutIsAPart) {
  record(12, 20);
  record_cut(12);
  ASSERT_NE(stitched(), nullptr);
  EXPECT_EQ(whole_text(), kFile);
  EXPECT_EQ(stitched(false)->coverage(), "bytes 12-19 of 20");
}

TEST_F(Stitched, WhatIsNoPartHasTheFirstOneOfItsKey) {
  RecordedArchive archive;
  auto const add = [&archive](std::uint16_t status, Outcome outcome, std::string_view body,
                              const char* target = "/file") {
    auto exchange = RecordedArchive::exchange("GET", target,
                                              {{.name = "Content-Range", .value = "bytes 0-2/20"}});
    exchange.response.status = status;
    exchange.outcome = outcome;
    archive.add(std::move(exchange), body);
  };
  add(416, Outcome::kComplete, "");
  add(206, Outcome::kCutByOrigin, "01");
  add(206, Outcome::kComplete, "012");
  add(416, Outcome::kComplete, "", "/alone");
  auto const& reader = archive.reader();
  std::vector<std::uint32_t> by_sequence(5);
  for (std::uint32_t i = 0; i < reader.entries().size(); ++i) {
    by_sequence[reader.entries()[i].sequence] = i;
  }
  EXPECT_EQ(StitchedParts::first_part(reader, by_sequence[1], true), by_sequence[2]);
  EXPECT_EQ(StitchedParts::first_part(reader, by_sequence[1], false), by_sequence[3]);
  EXPECT_EQ(StitchedParts::first_part(reader, by_sequence[3], true), by_sequence[3]);
  EXPECT_EQ(StitchedParts::first_part(reader, by_sequence[4], true), std::nullopt);
}

TEST_F(Stitched, ALieAboutItsPlaceIsNoPart) {
  for (std::string_view const place :
       {"bytes 0-6/*", "bytes 0-99/20", "bytes 6-0/20", "bytes 0-5/20", "bytes 0-6/20 ",
        "bytes 0-6/99999999999999999999", "items 0-6/20", ""}) {
    RecordedArchive archive;
    auto part =
        RecordedArchive::exchange("GET", "/file", {{.name = "Content-Range", .value = place}});
    part.response.status = 206;
    archive.add(std::move(part), "0123456");
    StoredResponse const like("GET", {.head = {.status = 206}});
    EXPECT_EQ(StitchedParts::of({.archive = archive.reader(), .on_damage = {}}, 0, like), nullptr)
        << place;
  }
}

}  // namespace
}  // namespace reprise
