#include "proxy/whatif/image_size.h"

#include <gmock/gmock.h>
#include <zlib.h>

#include "base/system/guarded_process.h"
#include "base/system/program.h"
#include "tests/proxy/whatif/recorded_site.h"

namespace reprise::whatif {
namespace {

using namespace std::string_literals;
using testing::HasSubstr;

const auto kPngStart = "\x89PNG\r\n\x1a\n"s;
const auto kPngEnd = "\0\0\0\0IEND\xae\x42\x60\x82"s;
const auto kJpeg = "\xff\xd8\xff\xe0\0\2\xff\xd9"s;
const auto kWebp = "RIFF\x10\0\0\0WEBPVP8L\4\0\0\0abcd"s;
const auto kAvif =
    "\0\0\0\x0c"
    "ftypavif"s;

std::uint64_t big_endian(std::string_view text, std::size_t at, std::size_t bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) {
    value = value << 8 | static_cast<unsigned char>(text.at(at + i));
  }
  return value;
}

std::string filled(const std::string& image, std::string_view type, std::size_t by) {
  auto bytes = buffer_of(image);
  return fill_image(bytes, type, by) ? std::string(text_of(bytes)) : "false";
}

TEST(FillImage, PutsCommentsIntoAJpeg) {
  for (std::size_t const by : {4, 5, 1000, 65'537, 65'538, 65'540, 65'541, 200'000}) {
    auto const image = filled(kJpeg, "image/jpeg", by);
    ASSERT_EQ(image.size(), kJpeg.size() + by);
    EXPECT_TRUE(image.starts_with("\xff\xd8"));
    EXPECT_TRUE(image.ends_with(kJpeg.substr(2)));
    // Comments follow each other up to what was there.
    std::size_t at = 2;
    while (at < 2 + by) {
      ASSERT_EQ(big_endian(image, at, 2), 0xfffe) << "at " << at << " of " << by;
      auto const length = big_endian(image, at + 2, 2);
      ASSERT_GE(length, 2);
      at += 2 + length;
    }
    EXPECT_EQ(at, 2 + by);
  }
}

TEST(FillImage, PutsAChunkBeforeTheEndOfAPng) {
  auto const png = kPngStart + "chunks" + kPngEnd;
  for (std::size_t const by : {12, 13, 100'000}) {
    auto const image = filled(png, "image/png", by);
    ASSERT_EQ(image.size(), png.size() + by);
    EXPECT_TRUE(image.ends_with(kPngEnd));
    auto const chunk = image.substr(kPngStart.size() + 6, by);
    EXPECT_EQ(big_endian(chunk, 0, 4), by - 12);
    EXPECT_EQ(chunk.substr(4, 4), "fiLl");
    auto const* const summed = reinterpret_cast<const Bytef*>(chunk.data() + 4);
    EXPECT_EQ(big_endian(chunk, by - 4, 4), ::crc32(0, summed, static_cast<uInt>(by - 8)));
  }
}

TEST(FillImage, AddsAChunkToAWebpAndItsSize) {
  for (std::size_t const by : {8, 10, 70'000}) {
    auto const image = filled(kWebp, "image/webp", by);
    ASSERT_EQ(image.size(), kWebp.size() + by);
    EXPECT_EQ(image.substr(8, kWebp.size() - 8), kWebp.substr(8));
    auto const chunk = image.substr(kWebp.size());
    EXPECT_EQ(chunk.substr(0, 4), "fill");
    auto const little_endian = [](const std::string& text, std::size_t at) {
      std::string const four(text.rbegin() + static_cast<long>(text.size() - at - 4),
                             text.rbegin() + static_cast<long>(text.size() - at));
      return big_endian(four, 0, 4);
    };
    EXPECT_EQ(little_endian(chunk, 4), by - 8);
    EXPECT_EQ(little_endian(image, 4), image.size() - 8);
  }
}

TEST(FillImage, AddsAFreeBoxToAnAvif) {
  for (std::size_t const by : {8, 9, 70'000}) {
    auto const image = filled(kAvif, "image/avif", by);
    ASSERT_EQ(image.size(), kAvif.size() + by);
    EXPECT_EQ(big_endian(image, kAvif.size(), 4), by);
    EXPECT_EQ(image.substr(kAvif.size() + 4, 4), "free");
  }
}

TEST(FillImage, HasASmallestSizeForEachFormat) {
  auto const png = kPngStart + kPngEnd;
  EXPECT_EQ(filled(kJpeg, "image/jpeg", 3), "false");
  EXPECT_EQ(filled(png, "image/png", 11), "false");
  EXPECT_EQ(filled(kWebp, "image/webp", 6), "false");
  EXPECT_EQ(filled(kWebp, "image/webp", 9), "false");
  EXPECT_EQ(filled(kAvif, "image/avif", 7), "false");
  EXPECT_EQ(filled(kJpeg, "image/jpeg", 0), kJpeg);
}

TEST(FillImage, RefusesWhatIsNotSuchAnImage) {
  EXPECT_EQ(filled("GIF89a", "image/jpeg", 100), "false");
  EXPECT_EQ(filled("", "image/png", 100), "false");
  EXPECT_EQ(filled(kPngStart, "image/png", 100), "false");
  EXPECT_EQ(filled("RIF", "image/webp", 100), "false");
  EXPECT_EQ(filled("RIFFabc", "image/webp", 100), "false");
  EXPECT_EQ(filled(kJpeg, "image/gif", 100), "false");
  EXPECT_EQ(filled(kJpeg, "image/jpeg", std::size_t{1} << 40), "false");
}

/// An image of noise, which does not become small by itself.
class ResizeImage : public testing::Test {
 protected:
  void SetUp() override {
    if (!find_program("vips")) GTEST_SKIP() << "needs vips";
  }
  std::string make(const std::string& name) {
    auto const vips = find_program("vips").value();
    auto const noise = (folder_ / "noise.v").string();
    auto const bytes = (folder_ / "bytes.v").string();
    auto const out = (folder_ / name).string();
    for (auto const& arguments :
         std::vector<std::vector<std::string>>{{"gaussnoise", noise, "120", "90", "--seed", "1"},
                                               {"cast", noise, bytes, "uchar"},
                                               {"copy", bytes, out}}) {
      auto const ran = run_program(vips, arguments, std::chrono::seconds(60));
      if (!ran || ran->exit_code != 0) return "";
    }
    std::ifstream in(out, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::string header(const std::string& name, const std::string& field) {
    auto const vips = find_program("vipsheader").value();
    return run_program(vips, {"-f", field, (folder_ / name).string()})->output;
  }
  static std::string resized(const std::string& image, std::string_view type, double factor) {
    StoredReply head{.status = 200, .headers = {{.name = "Content-Type", .value = type}}};
    Reply reply{.stored = head, .body = buffer_of(image)};
    auto const change = resize_image(reply, factor);
    return change ? std::string(text_of(reply.body)) : "error: " + change.error();
  }
  ScratchFolder folder_;
};

TEST_F(ResizeImage, GivesThePartOfTheBytes) {
  for (auto const& [suffix, type] : {std::pair("jpg", "image/jpeg"), std::pair("png", "image/png"),
                                     std::pair("webp", "image/webp")}) {
    auto const image = make("made."s + suffix);
    if (image.empty()) GTEST_SKIP() << "vips cannot write " << suffix;
    auto const smaller = resized(image, type, 0.53);
    auto const most = static_cast<std::size_t>(static_cast<double>(image.size()) * 0.53);
    // Less than the smallest filling of a format can be missing.
    EXPECT_LE(smaller.size(), most) << suffix << smaller.substr(0, 80);
    EXPECT_GT(smaller.size() + 12, most) << suffix;
    std::ofstream(folder_ / "smaller", std::ios::binary) << smaller;
    EXPECT_EQ(header("smaller", "width") + header("smaller", "height"), "120\n90\n") << suffix;
  }
}

TEST_F(ResizeImage, RefusesWhatCannotBeAsSmall) {
  auto const image = make("made.jpg");
  EXPECT_EQ(resized(image, "image/jpeg", 0.001),
            "error: with its dimensions it cannot be as small");
}

TEST_F(ResizeImage, GivesVipsOnlyWhatBeginsLikeAnImageOfItsType) {
  auto const svg = "<svg xmlns='http://www.w3.org/2000/svg'><image href='/etc/passwd'/></svg>"s;
  auto const mvg = "push graphic-context\nimage over 0,0 0,0 'https://evil.test/'\n"s;
  for (auto const* const type : {"image/jpeg", "image/png", "image/webp", "image/avif"}) {
    for (auto const& hostile : {svg, mvg, "%PDF-1.4"s, ""s, "RIFF1234WAVEfmt "s}) {
      EXPECT_EQ(resized(hostile, type, 0.5), "error: its bytes are not of its type")
          << type << hostile;
    }
  }
  EXPECT_THAT(resized(kJpeg, "image/jpeg", 0.5), HasSubstr("error: vips cannot encode it"));
}

TEST_F(ResizeImage, NamesTheActionsForOtherTypes) {
  EXPECT_EQ(resized("x", "text/css", 0.5),
            "error: only JPEG, PNG, WebP and AVIF can be encoded again; for text/css use "
            "compress= or body=");
  EXPECT_THAT(resized("x", "", 0.5), HasSubstr("for others use"));
}

}  // namespace
}  // namespace reprise::whatif
