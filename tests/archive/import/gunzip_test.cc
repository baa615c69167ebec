// gzip members of all sizes: those that are decoded as a whole, and those that are too large for
// it.

#include "archive/import/decompress.h"
#include "tests/archive/archive_fixture.h"
#include "tests/archive/import/import_fixture.h"

namespace reprise::importing {
namespace {

struct Unzipped {
  std::string text;
  std::string problem;
};

Unzipped gunzip(std::string_view bytes) {
  MemoryInput input(bytes);
  auto const source = make_gunzip(std::make_unique<InputSource>(input, 0, bytes.size(), nullptr));
  Unzipped out;
  std::string buffer(100'000, '\0');
  while (auto const got = source->read(buffer)) out.text.append(buffer, 0, got);
  if (source->fault()) out.problem = source->fault()->what;
  return out;
}

TEST(Gunzip, MembersOfEverySizeFollowEachOther) {
  std::string const tiny = "a";
  auto const noisy = noise(3 << 20, 1);           // does not fit as it lies in the file
  auto const smooth = std::string(9 << 20, 'x');  // does not fit decoded
  std::string coded;
  std::string plain;
  for (auto const& piece : {tiny, noisy, tiny, smooth, std::string(), tiny, noisy}) {
    coded += gzip(piece);
    plain += piece;
  }
  auto const out = gunzip(coded);
  EXPECT_EQ(out.problem, "");
  EXPECT_TRUE(out.text == plain);
}

TEST(Gunzip, ThousandsOfSmallMembersCrossTheBuffer) {
  std::string coded;
  std::string plain;
  for (std::uint64_t seed = 0; seed < 3'000; ++seed) {
    auto const piece = noise(seed % 2'000, seed);
    coded += gzip(piece);
    plain += piece;
  }
  auto const out = gunzip(coded + std::string(700, '\0'));
  EXPECT_EQ(out.problem, "") << "zeros behind the last member are padding";
  EXPECT_TRUE(out.text == plain);
}

TEST(Gunzip, DamageIsFoundInSmallAndLargeMembersAtItsByte) {
  auto const first = gzip("whole");
  for (std::size_t const size : {1'000U, 3U << 20}) {
    auto member = gzip(noise(size, 2));
    auto flipped = member;
    flipped[flipped.size() - 6] ^= 1;  // of its checksum
    auto const out = gunzip(first + flipped + first);
    EXPECT_THAT(out.problem, testing::HasSubstr("broken compressed data: incorrect data check"));
    EXPECT_THAT(out.text, testing::StartsWith("whole"));
    auto const cut = gunzip(first + member.substr(0, member.size() - 1));
    EXPECT_EQ(cut.problem, "at byte " + std::to_string(first.size() + member.size() - 1) +
                               " of the file: the compressed data end too early");
  }
  EXPECT_THAT(gunzip(first + "rest").problem,
              testing::HasSubstr("what follows a gzip member is none"));
}

}  // namespace
}  // namespace reprise::importing
