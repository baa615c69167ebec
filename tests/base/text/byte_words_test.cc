#include "base/text/byte_words.h"

#include <gtest/gtest.h>

#include <string>

namespace reprise {
namespace {

TEST(ByteWords, FindTheFirstPlaceOfAByte) {
  EXPECT_EQ(place_of('.', word_at("........")), 0u);
  EXPECT_EQ(place_of('.', word_at("1234567.")), 7u);
  EXPECT_EQ(place_of('.', word_at("12345678")), 8u);
  // Bytes that differ from it in one bit.
  EXPECT_EQ(place_of('.', word_at("/\xae/,./.0")), 4u);
}

TEST(ByteWords, FindEachPlaceOfAByteIn32) {
  std::string others;
  while (others.size() < 32) others += "./\xaf ";
  for (std::size_t at = 0; at < others.size(); ++at) {
    auto text = others;
    text[at] = '/';
    auto const places = places_in_32('/', text.data());
    for (std::size_t i = 0; i < text.size(); ++i) {
      ASSERT_EQ((places >> i & 1) != 0, text[i] == '/') << text << " at " << i;
    }
  }
}

}  // namespace
}  // namespace reprise
