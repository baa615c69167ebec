// gzip members of all sizes: those that are decoded as a whole, and those that are too large for
// it.

#include <zstd.h>

#include "archive/import/source/decompress.h"
#include "archive/import/source/whole_gunzip.h"
#include "tests/archive/archive_fixture.h"
#include "tests/archive/import/import_fixture.h"

namespace reprise::importing {
namespace {

struct Unzipped {
  std::string text;
  std::string problem;
  std::string remark;
};

Unzipped gunzip(std::string_view bytes) {
  MemoryInput input(bytes);
  auto const source = make_gunzip(std::make_unique<InputSource>(input, 0, bytes.size(), nullptr));
  Unzipped out;
  std::string buffer(100'000, '\0');
  while (auto const got = source->read(buffer)) out.text.append(buffer, 0, got);
  if (source->fault()) out.problem = source->fault()->what;
  out.remark = source->remark();
  return out;
}

/// All that can be had of `source`, and how often it broke.
std::pair<std::string, int> salvage(ByteSource& source) {
  std::string text;
  int faults = 0;
  std::string buffer(100'000, '\0');
  do {
    while (auto const got = source.read(buffer)) text.append(buffer, 0, got);
    faults += source.fault() ? 1 : 0;
  } while (source.fault() && source.resume());
  return {text, faults};
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

std::optional<std::string> whole(std::string_view bytes) {
  MemoryInput input(bytes);
  return inflated_whole(input);
}

TEST(WholeGunzip, InflatesOneMemberAtOnce) {
  auto const noisy = noise(3 << 20, 1);
  EXPECT_TRUE(whole(gzip(noisy)) == noisy);
  EXPECT_EQ(whole(gzip("")), "");
}

TEST(WholeGunzip, LeavesWhatIsNotOneWholeMemberToTheStream) {
  auto const member = gzip(noise(1000, 1));
  EXPECT_EQ(whole(""), std::nullopt);
  EXPECT_EQ(whole(std::string(100, 'x')), std::nullopt);
  EXPECT_EQ(whole(member + member), std::nullopt);
  EXPECT_EQ(whole(member + '\0'), std::nullopt);
  EXPECT_EQ(whole(member.substr(0, member.size() - 1)), std::nullopt);
  auto flipped = member;
  flipped[500] ^= 1;
  EXPECT_EQ(whole(flipped), std::nullopt);
  auto boastful = member;
  boastful.replace(boastful.size() - 4, 4, "\xff\xff\xff\x1f");
  EXPECT_EQ(whole(boastful), std::nullopt) << "memory is not taken for a false length";
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
  EXPECT_EQ(out.remark, "700 zero bytes follow the last gzip member: padding, or lost data");
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
              testing::HasSubstr("data after a gzip member is not a gzip member"));
}

TEST(Gunzip, ZerosBetweenMembersAreDamage) {
  auto const member = gzip("whole");
  auto const out = gunzip(member + std::string(512, '\0') + member);
  EXPECT_EQ(out.text, "whole");
  EXPECT_THAT(out.problem, testing::HasSubstr("512 zero bytes before the first"));
}

TEST(Gunzip, GoesOnAtTheNextMember) {
  auto const tiny = gzip("tiny ");
  for (std::size_t const size : {200U, 3U << 20}) {
    auto const member = gzip(noise(size, 7));
    auto flipped = member;
    flipped[member.size() / 2] ^= 4;
    for (auto const& broken : {flipped, member.substr(0, member.size() / 2),
                               member.substr(member.size() / 2), std::string(512, '\0')}) {
      auto const bytes = tiny + broken + tiny + tiny;
      MemoryInput input(bytes);
      auto const source =
          make_gunzip(std::make_unique<InputSource>(input, 0, bytes.size(), nullptr));
      auto const [text, faults] = salvage(*source);
      EXPECT_TRUE(text.starts_with("tiny "));
      EXPECT_TRUE(text.ends_with("tiny tiny ")) << size << " " << broken.size();
      EXPECT_GE(faults, 1);
    }
  }
}

TEST(Unzstd, ChecksFramesAndGoesOnAtTheNextOne) {
  auto const frame = [](std::string_view text) {
    std::string out(ZSTD_compressBound(text.size()), '\0');
    auto* const context = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    out.resize(ZSTD_compress2(context, out.data(), out.size(), text.data(), text.size()));
    ZSTD_freeCCtx(context);
    return out;
  };
  for (std::size_t const size : {200U, 300'000U}) {
    auto const whole = frame(noise(size, 3));
    auto const bytes_of = [&](std::size_t at) {
      auto bytes = frame("first ") + whole + frame("last");
      bytes[frame("first ").size() + at] ^= 1;
      return bytes;
    };
    for (std::size_t const at : {std::size_t{9}, whole.size() / 2, whole.size() - 1}) {
      auto const bytes = bytes_of(at);
      MemoryInput input(bytes);
      auto const source =
          make_unzstd(std::make_unique<InputSource>(input, 0, bytes.size(), nullptr));
      auto const [text, faults] = salvage(*source);
      EXPECT_TRUE(text.starts_with("first "));
      EXPECT_TRUE(text.ends_with("last")) << size << " " << at;
      EXPECT_GE(faults, 1);
    }
  }
}

}  // namespace
}  // namespace reprise::importing
