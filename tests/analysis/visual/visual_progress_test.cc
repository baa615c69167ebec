#include "analysis/visual/visual_progress.h"

#include <gmock/gmock.h>

namespace reprise {
namespace {

using testing::ElementsAre;

/// A picture with that many black and grey pixels; the rest is white.
Histogram picture(int black, int grey = 0) {
  Histogram histogram;
  for (int i = 0; i < black; ++i) histogram.add(0, 0, 0);
  for (int i = 0; i < grey; ++i) histogram.add(128, 128, 128);
  return histogram;
}

TEST(Histogram, LeavesOutWhatIsWhiteInAllChannels) {
  Histogram histogram;
  histogram.add(250, 255, 251);
  EXPECT_EQ(histogram, Histogram());
  histogram.add(249, 255, 255);
  EXPECT_EQ(histogram.channels[0][249], 1U);
  EXPECT_EQ(histogram.channels[1][255], 1U);
}

TEST(VisualProgress, IsTheShareOfTheLastPicturesColours) {
  auto const last = picture(30, 70);
  EXPECT_EQ(percent_complete(picture(0), last), 0);
  EXPECT_EQ(percent_complete(picture(30), last), 30);
  EXPECT_EQ(percent_complete(picture(90), last), 30);  // more of a colour than is needed
  EXPECT_EQ(percent_complete(picture(15, 35), last), 50);
  EXPECT_EQ(percent_complete(last, last), 100);
  EXPECT_EQ(percent_complete(picture(2), picture(3)), 66);  // rounded down
}

TEST(VisualProgress, SumsUpWhatIsMissing) {
  // Blank until 200 ms, 40 % until 500, 90 % until 1,000.
  std::vector<SeenFrame> const frames = {{0, picture(0)},
                                         {200, picture(40)},
                                         {500, picture(40, 50)},
                                         {1000, picture(40, 60)},
                                         {1500, picture(40, 60)}};
  auto const progress = visual_progress(frames);
  ASSERT_TRUE(progress);
  EXPECT_THAT(progress->percent, ElementsAre(0, 40, 90, 100, 100));
  EXPECT_DOUBLE_EQ(progress->speed_index_ms, 200 + 300 * 0.6 + 500 * 0.1);
  EXPECT_EQ(progress->visually_complete_ms, 1000);
}

TEST(VisualProgress, IsBlankBeforeTheFirstFrame) {
  auto const progress = visual_progress(std::vector<SeenFrame>{{300, picture(1)}});
  ASSERT_TRUE(progress);
  EXPECT_EQ(progress->speed_index_ms, 300);
  EXPECT_EQ(progress->visually_complete_ms, 300);
}

TEST(VisualProgress, GoesBackWhenThePictureDoes) {
  std::vector<SeenFrame> const frames = {{100, picture(10)}, {200, picture(5)}, {400, picture(10)}};
  auto const progress = visual_progress(frames);
  ASSERT_TRUE(progress);
  EXPECT_THAT(progress->percent, ElementsAre(100, 50, 100));
  EXPECT_DOUBLE_EQ(progress->speed_index_ms, 100 + 200 * 0.5);
  EXPECT_EQ(progress->visually_complete_ms, 100);
}

TEST(VisualProgress, IsNotKnownOfAPageThatEndsBlank) {
  EXPECT_FALSE(visual_progress({}));
  EXPECT_FALSE(visual_progress(std::vector<SeenFrame>{{0, picture(5)}, {100, picture(0)}}));
}

}  // namespace
}  // namespace reprise
