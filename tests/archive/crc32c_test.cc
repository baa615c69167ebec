#include "base/http/crc32c.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "tests/archive/archive_fixture.h"

namespace reprise {
namespace {

std::vector<std::byte> filled(std::size_t size, int value) {
  return std::vector<std::byte>(size, static_cast<std::byte>(value));
}

std::vector<std::byte> counting_up() {
  std::vector<std::byte> bytes;
  for (int i = 0; i < 32; ++i) bytes.push_back(static_cast<std::byte>(i));
  return bytes;
}

// RFC 3720 appendix B.4, written there least significant byte first.
TEST(Crc32c, GivesTheVectorsOfRfc3720) {
  auto const up = counting_up();
  auto down = up;
  std::ranges::reverse(down);
  std::array<unsigned char, 48> const read_command = {
      0x01, 0xc0, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
      0x00, 0x00, 0x00, 0x00, 0x14, 0x00, 0x00, 0x00, 0x00, 0x00, 0x04, 0x00,
      0x00, 0x00, 0x00, 0x14, 0x00, 0x00, 0x00, 0x18, 0x28, 0x00, 0x00, 0x00,
      0x00, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00};
  for (auto* sum : {&crc32c, &crc32c_portable}) {
    EXPECT_EQ(sum(filled(32, 0), 0), 0x8a9136aaU);
    EXPECT_EQ(sum(filled(32, 0xff), 0), 0x62a8ab43U);
    EXPECT_EQ(sum(up, 0), 0x46dd794eU);
    EXPECT_EQ(sum(down, 0), 0x113fdb5cU);
    EXPECT_EQ(sum(std::as_bytes(std::span(read_command)), 0), 0xd9963a56U);
    EXPECT_EQ(sum({}, 0), 0U);
  }
}

TEST(Crc32c, IsTheSameWithAndWithoutTheInstructionInPiecesAndAtAnyAlignment) {
  auto const text = noise(300, 1);
  auto const bytes = as_bytes(text);
  for (std::size_t begin = 0; begin < 9; ++begin) {
    for (std::size_t size = 0; size + begin <= bytes.size(); size += 7) {
      auto const piece = bytes.subspan(begin, size);
      auto const whole = crc32c(piece);
      EXPECT_EQ(whole, crc32c_portable(piece));
      auto const middle = size / 3;
      EXPECT_EQ(whole, crc32c(piece.subspan(middle), crc32c_portable(piece.first(middle))));
      EXPECT_EQ(whole, crc32c_portable(piece.subspan(middle), crc32c(piece.first(middle))));
    }
  }
}

}  // namespace
}  // namespace reprise
