#include "analysis/visual/histogram.h"

#include <gtest/gtest.h>

#include <string>

#include "base/text/base64.h"

namespace reprise {
namespace {

/// A JPEG of 16 by 8 pixels: the left half is (128, 128, 128), the right one white.
constexpr std::string_view kHalfGrey =
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEB"
    "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQH/2wBDAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEB"
    "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQH/wAARCAAIABADAREAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAA"
    "AAr/xAAUEAEAAAAAAAAAAAAAAAAAAAAA/8QAFAEBAAAAAAAAAAAAAAAAAAAAAP/EABQRAQAAAAAAAAAAAAAAAAAA"
    "AAD/2gAMAwEAAhEDEQA/AAL+Af/Z";

TEST(Histogram, CountsThePixelsOfAJpeg) {
  auto const histogram = histogram_of_jpeg(*decode_base64(kHalfGrey));
  ASSERT_TRUE(histogram);
  for (auto const& channel : histogram->channels) {
    EXPECT_EQ(channel[128], 64U);
    EXPECT_EQ(channel[255], 0U);
  }
}

TEST(Histogram, IsNotThereForWhatIsNoJpeg) {
  auto const jpeg = *decode_base64(kHalfGrey);
  EXPECT_FALSE(histogram_of_jpeg(""));
  EXPECT_FALSE(histogram_of_jpeg("GIF89a"));
  EXPECT_FALSE(histogram_of_jpeg(jpeg.substr(0, 20)));
  auto large = jpeg;
  // The height in the frame's header (SOF0): 0xFFC0, length, precision.
  auto const header = large.find("\xFF\xC0");
  ASSERT_NE(header, std::string::npos);
  large[header + 5] = '\x7F';
  EXPECT_FALSE(histogram_of_jpeg(large));
}

}  // namespace
}  // namespace reprise
