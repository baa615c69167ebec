#include "tools/advise/advice_pictures.h"

#include <gmock/gmock.h>

#include <array>

#include "base/text/base64.h"

namespace reprise {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// A JPEG of 16 by 8 pixels.
constexpr std::string_view kHalfGrey =
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEB"
    "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQH/2wBDAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEB"
    "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQH/wAARCAAIABADAREAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAA"
    "AAr/xAAUEAEAAAAAAAAAAAAAAAAAAAAA/8QAFAEBAAAAAAAAAAAAAAAAAAAAAP/EABQRAQAAAAAAAAAAAAAAAAAA"
    "AAD/2gAMAwEAAhEDEQA/AAL+Af/Z";

/// That JPEG with `end` after it, which tells it from others.
std::string jpeg(const std::string& end) {
  return *decode_base64(kHalfGrey) + end;
}

/// Frames at these times, each told by its own.
TraceVisuals seen_at(const std::vector<int>& times_ms) {
  TraceVisuals visuals;
  for (int const at_ms : times_ms) {
    visuals.frames.push_back(
        {.at_ms = static_cast<double>(at_ms), .jpeg = jpeg(std::to_string(at_ms))});
  }
  return visuals;
}

TEST(PicturePairs, AreOfTheSameTimeOnBothSides) {
  auto recorded = seen_at({100, 700, 1500, 1900});
  auto changed = seen_at({90, 810, 1600});
  recorded.largest_paint = TraceVisuals::LargestPaint{.at_ms = 1500};
  changed.largest_paint = TraceVisuals::LargestPaint{.at_ms = 800};
  auto const pairs = picture_pairs(recorded, changed);
  ASSERT_EQ(pairs.size(), 2U);
  EXPECT_EQ(pairs[0].at_ms, 810) << "the frame that shows the paint";
  EXPECT_EQ(pairs[0].moment, "largest paint of the changed page");
  EXPECT_EQ(pairs[0].recorded, jpeg("700"));
  EXPECT_EQ(pairs[0].changed, jpeg("810"));
  EXPECT_EQ(pairs[1].at_ms, 1500);
  EXPECT_EQ(pairs[1].moment, "largest paint of the page as recorded");
  EXPECT_EQ(pairs[1].recorded, jpeg("1500"));
  EXPECT_EQ(pairs[1].changed, jpeg("810"));
}

TEST(PicturePairs, AreOneWhenThePageAsRecordedIsNotLater) {
  auto recorded = seen_at({400});
  auto changed = seen_at({300});
  recorded.first_contentful_paint_ms = 250;
  changed.first_contentful_paint_ms = 290;
  auto const pairs = picture_pairs(recorded, changed);
  ASSERT_EQ(pairs.size(), 1U);
  EXPECT_EQ(pairs[0].at_ms, 300);
  EXPECT_EQ(pairs[0].moment, "first contentful paint of the changed page");
  EXPECT_EQ(pairs[0].recorded, "") << "nothing was painted yet";
  EXPECT_EQ(picture_pairs(recorded, seen_at({300, 500})).front().moment,
            "last frame of the changed page");
  EXPECT_TRUE(picture_pairs(recorded, {}).empty());
}

TEST(PicturePairs, AreOfTheFirstFrameWhenThatIsLate) {
  auto recorded = seen_at({500});
  auto changed = seen_at({420});
  recorded.first_contentful_paint_ms = 430;
  changed.first_contentful_paint_ms = 300;
  auto const pairs = picture_pairs(recorded, changed);
  ASSERT_EQ(pairs.size(), 2U);
  EXPECT_EQ(pairs[0].at_ms, 420);
  EXPECT_EQ(pairs[0].moment, "first contentful paint of the changed page");
  EXPECT_EQ(pairs[0].recorded, "");
  EXPECT_EQ(pairs[0].changed, jpeg("420"));
  EXPECT_EQ(pairs[1].at_ms, 500);
  EXPECT_EQ(pairs[1].recorded, jpeg("500"));
}

TEST(PicturePairs, SkipFramesThatCannotBeDecoded) {
  auto changed = seen_at({300, 500});
  changed.frames.back().jpeg = "<svg/>";
  auto const pairs = picture_pairs({}, changed);
  ASSERT_EQ(pairs.size(), 1U);
  EXPECT_EQ(pairs[0].at_ms, 500);
  EXPECT_EQ(pairs[0].changed, jpeg("300"));
}

TEST(PicturesMarkdown, NamesTheFilesAndLinksTheView) {
  AdvicePictures pictures;
  pictures.seen.push_back({.side = 0, .title = "as recorded"});
  pictures.seen.push_back({.side = 3, .title = "1. Load *a* late"});
  std::array const changes{ChangePictures{
      .changed = pictures.seen[1],
      .pairs = {{.at_ms = 810.4, .moment = "largest paint of the changed page", .changed = "x"},
                {.at_ms = 1500, .recorded = "y", .changed = "x"}}}};
  auto const text = pictures_markdown(changes, pictures, true);
  EXPECT_THAT(text, HasSubstr("\n[view.html](view.html) shows the loads, and all frames"));
  EXPECT_THAT(text, HasSubstr("\n### 1. Load \\*a\\* late\n\n| after | as recorded | changed |\n"));
  EXPECT_THAT(text,
              HasSubstr("\n| 810 ms, largest paint of the changed page | nothing yet | ![changed "
                        "after 810 ms](picture-3-1-changed.jpg) |\n"));
  EXPECT_THAT(text, HasSubstr("| ![as recorded after 1500 ms](picture-3-2-recorded.jpg) | "
                              "![changed after 1500 ms](picture-3-2-changed.jpg) |\n"));
  EXPECT_THAT(pictures_markdown(changes, pictures, false), Not(HasSubstr("view.html")));
}

TEST(PicturesMarkdown, SaysWhyThereAreNone) {
  AdvicePictures const pictures{.missing = {"no picture of '1. <b>': its trace has no frames"}};
  auto const text = pictures_markdown({}, pictures, true);
  EXPECT_THAT(text, HasSubstr("\n[view.html](view.html) shows the loads.\n"));
  EXPECT_THAT(text, HasSubstr("\nNote: no picture of '1. &lt;b>': its trace has no frames.\n"));
  EXPECT_THAT(text, Not(HasSubstr("Before and after")));
}

}  // namespace
}  // namespace reprise
