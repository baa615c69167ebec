#include "base/coding/coding.h"

#include <gmock/gmock.h>
#include <zstd.h>

#include <string>

#include "base/coding/error.h"
#include "tests/inject/find_place.h"
#include "tests/inject/sample_page.h"

namespace reprise::coding {
namespace {

using Codings = std::vector<Coding>;

Buffer encode(const Codings& codings, std::span<const std::byte> plain, Effort effort) {
  Buffer coded;
  Encoder(codings, effort).write(plain, Until::kEnd, coded);
  return coded;
}

Result<Buffer> decode(const Codings& codings, std::span<const std::byte> coded,
                      DecodeLimits limits = {}, std::size_t piece = 1 << 30) {
  Decoder decoder(codings, limits);
  Buffer plain;
  while (!coded.empty()) {
    auto const step = std::min(piece, coded.size());
    if (auto const done = decoder.write(coded.first(step), plain); !done) {
      EXPECT_LE(plain.size(), limits.bytes_max + 64 * 1024);
      return fail(done.error());
    }
    coded = coded.subspan(step);
  }
  if (auto const done = decoder.finish(); !done) return fail(done.error());
  return plain;
}

Buffer buffer_of(std::string_view text) {
  auto const bytes = bytes_of(text);
  return {bytes.begin(), bytes.end()};
}

const Codings kEach[] = {{},
                         {Coding::kGzip},
                         {Coding::kDeflate},
                         {Coding::kRawDeflate},
                         {Coding::kBrotli},
                         {Coding::kZstd},
                         {Coding::kGzip, Coding::kGzip},
                         {Coding::kDeflate, Coding::kBrotli, Coding::kZstd},
                         {Coding::kZstd, Coding::kGzip, Coding::kRawDeflate, Coding::kBrotli}};

TEST(Coding, EveryCodingAndChainComesBackWhole) {
  auto const page = buffer_of(inject::sample_page(200'000));
  for (const Codings& codings : kEach) {
    for (auto const size : {std::size_t{1}, std::size_t{3000}, page.size()}) {
      auto const plain = std::span(page).first(size);
      auto const coded = encode(codings, plain, 5);
      for (std::size_t const piece : {std::size_t{1}, std::size_t{777}, coded.size()}) {
        EXPECT_EQ(decode(codings, coded, {}, piece), Buffer(plain.begin(), plain.end()));
      }
    }
  }
}

TEST(Coding, ReadsContentEncodingInTheOrderOfApplication) {
  Headers const headers{{.name = "content-encoding", .value = " GZIP , identity"},
                        {.name = "Content-Encoding", .value = "br,zstd"}};
  EXPECT_EQ(codings_of(headers.list()), (Codings{Coding::kGzip, Coding::kBrotli, Coding::kZstd}));
  EXPECT_EQ(codings_of({}), Codings{});
  for (auto const* const value : {"compress", "X-Compress", "exi", "pack200-gzip", "gzip;q=1",
                                  "dcb", "dcz", "aes128gcm", "br,br,br,br,br"}) {
    Headers const bad{{.name = "Content-Encoding", .value = value}};
    EXPECT_EQ(codings_of(bad.list()).error(), errc::unknown_coding) << value;
  }
}

TEST(Coding, IgnoresAContentEncodingThatNamesNoCoding) {
  for (auto const* const value : {"utf-8", "none", "UTF-8, identity", "binary", ""}) {
    Headers const headers{{.name = "Content-Encoding", .value = value}};
    EXPECT_EQ(codings_of(headers.list()), Codings{}) << value;
  }
  // Browsers differ.
  for (auto const* const value : {"gzip, utf-8", "utf-8, gzip"}) {
    Headers const headers{{.name = "Content-Encoding", .value = value}};
    EXPECT_EQ(codings_of(headers.list()).error(), errc::unknown_coding) << value;
  }
}

TEST(Coding, TellsTheTwoKindsOfDeflateApart) {
  auto const page = buffer_of(inject::sample_page(5000));
  for (Coding const kind : {Coding::kDeflate, Coding::kRawDeflate}) {
    Decoder decoder(Codings{Coding::kDeflate}, {});
    Buffer plain;
    ASSERT_TRUE(decoder.write(encode({kind}, page, 6), plain));
    EXPECT_TRUE(decoder.finish());
    EXPECT_EQ(plain, page);
    EXPECT_EQ(decoder.codings(), Codings{kind});
  }
}

TEST(Coding, ABombEndsWithAnErrorAndLittleMemory) {
  Buffer const zeros(12 << 20);
  for (const Codings& codings : kEach) {
    if (codings.empty()) continue;
    auto const coded = encode(codings, zeros, 4);
    EXPECT_EQ(decode(codings, coded).error(), errc::bomb);
    EXPECT_EQ(decode(codings, coded, {.bytes_max = 1 << 20}).error(), errc::too_large);
    // What is allowed to be large is.
    EXPECT_TRUE(decode(codings, coded, {.bytes_max = 64 << 20, .ratio_max = 1 << 30}));
  }
}

TEST(Coding, SeveralCodingsTogetherAreHeldToTheLimitOfOne) {
  Buffer const zeros(12 << 20);
  DecodeLimits const limits{.ratio_max = 2000};
  EXPECT_TRUE(decode({Coding::kGzip}, encode({Coding::kGzip}, zeros, 6), limits));
  Codings const twice{Coding::kGzip, Coding::kGzip};
  EXPECT_EQ(decode(twice, encode(twice, zeros, 6), limits).error(), errc::bomb);
}

TEST(Coding, SmallBodiesMayBeDense) {
  Buffer const zeros(1 << 20);
  EXPECT_EQ(decode({Coding::kBrotli}, encode({Coding::kBrotli}, zeros, 11)), zeros);
}

TEST(Coding, ABodyThatIsNotCodedIsFoundOut) {
  for (auto const* const text :
       {"<!doctype html><html><head><title>x</title>", "x", "{}", "\x1F"}) {
    for (const Codings& codings : kEach) {
      if (codings.empty()) continue;
      EXPECT_FALSE(decode(codings, bytes_of(text))) << text;
    }
  }
  EXPECT_EQ(decode({Coding::kGzip}, bytes_of("<html>")).error(), errc::not_that_coding);
  EXPECT_EQ(decode({Coding::kZstd}, bytes_of("<html>")).error(), errc::not_that_coding);
  auto const page = buffer_of(inject::sample_page(5000));
  EXPECT_FALSE(decode({Coding::kBrotli}, encode({Coding::kGzip}, page, 6)));
  EXPECT_FALSE(decode({Coding::kGzip}, encode({Coding::kDeflate}, page, 6)));
  EXPECT_FALSE(decode({Coding::kGzip, Coding::kGzip}, encode({Coding::kGzip}, page, 6)));
}

TEST(Coding, ACutBodyIsFoundOut) {
  auto const page = buffer_of(inject::sample_page(5000));
  for (const Codings& codings : kEach) {
    if (codings.empty()) continue;
    auto const coded = encode(codings, page, 6);
    for (std::size_t const size : {std::size_t{1}, std::size_t{9}, coded.size() / 2}) {
      EXPECT_FALSE(decode(codings, std::span(coded).first(size)));
    }
  }
}

TEST(Coding, DamageIsFoundOut) {
  auto const page = buffer_of(inject::sample_page(5000));
  auto coded = encode({Coding::kDeflate}, page, 6);
  coded.back() ^= std::byte{1};  // in the checksum
  EXPECT_EQ(decode({Coding::kDeflate}, coded).error(), errc::not_that_coding);
}

TEST(Coding, TheTrailerOfGzipIsIgnoredAsInBrowsersUnlessItIsChecked) {
  constexpr std::size_t kTrailerBytes = 8;
  auto const codings = Codings{Coding::kGzip};
  for (std::size_t const size : {0, 1, 5000, 200'000}) {
    auto const page = buffer_of(inject::sample_page(200'000).substr(0, size));
    auto const coded = encode(codings, page, 6);
    std::vector<Buffer> wrong;
    for (std::size_t i = 1; i <= kTrailerBytes; ++i) {
      wrong.push_back(coded);
      wrong.back()[coded.size() - i] ^= std::byte{1};
      wrong.emplace_back(coded.begin(), coded.end() - static_cast<std::ptrdiff_t>(i));
    }
    for (const Buffer& each : wrong) {
      EXPECT_EQ(decode(codings, each), page);
      EXPECT_EQ(decode(codings, each, {}, 1), page);
      auto found = codings;
      EXPECT_EQ(decode_whole(found, each, {}), page);
      Decoder strict(codings, {}, GzipTrailer::kChecked);
      Buffer plain;
      EXPECT_FALSE(strict.write(each, plain) && strict.finish());
    }
    EXPECT_EQ(decode(codings, std::span(coded).first(coded.size() - kTrailerBytes - 1)).error(),
              errc::truncated);
  }
}

TEST(Coding, ABodyThatEndsEarlyIsAvailableAsFarAsItGoes) {
  auto const page = buffer_of(inject::sample_page(200'000));
  for (const Codings& each : kEach) {
    if (each.empty()) continue;
    auto codings = each;
    auto const coded = encode(codings, page, 6);
    auto const whole = decode_available(codings, coded, {});
    ASSERT_TRUE(whole);
    EXPECT_FALSE(whole->is_truncated);
    EXPECT_EQ(whole->plain, page);
    auto const part = decode_available(codings, std::span(coded).first(coded.size() - 9), {});
    ASSERT_TRUE(part);
    EXPECT_TRUE(part->is_truncated);
    EXPECT_LE(part->plain.size(), page.size());
    EXPECT_TRUE(std::equal(part->plain.begin(), part->plain.end(), page.begin()));
    EXPECT_EQ(decode_whole(codings, std::span(coded).first(coded.size() - 9), {}).error(),
              errc::truncated);
  }
}

TEST(Coding, WhatFollowsTheEndIsIgnoredAsInBrowsers) {
  auto const page = buffer_of(inject::sample_page(5000));
  for (Coding const coding : {Coding::kGzip, Coding::kDeflate, Coding::kBrotli}) {
    auto coded = encode({coding}, page, 5);
    for (char const c : std::string_view("trailing")) coded.push_back(std::byte(c));
    EXPECT_EQ(decode({coding}, coded), page);
    EXPECT_EQ(decode({coding}, coded, {}, 1), page);
  }
}

TEST(Coding, ZstdMayHaveSeveralFramesButNoHugeWindow) {
  auto const page = buffer_of(inject::sample_page(5000));
  auto two = encode({Coding::kZstd}, page, 3);
  auto const frame = two;
  two.insert(two.end(), frame.begin(), frame.end());
  auto twice = page;
  twice.insert(twice.end(), page.begin(), page.end());
  EXPECT_EQ(decode({Coding::kZstd}, two, {}, 100), twice);

  auto* const context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, 24);
  Buffer wide(1 << 16);
  ZSTD_outBuffer out{.dst = wide.data(), .size = wide.size(), .pos = 0};
  ZSTD_inBuffer in{.src = page.data(), .size = page.size(), .pos = 0};
  EXPECT_EQ(ZSTD_compressStream2(context, &out, &in, ZSTD_e_flush), 0U);
  ZSTD_freeCCtx(context);
  wide.resize(out.pos);
  EXPECT_EQ(decode({Coding::kZstd}, wide).error(), errc::not_that_coding);
}

TEST(Coding, AFlushLetsOutAllThatWasWritten) {
  for (const Codings& codings : kEach) {
    Encoder encoder(codings, 5);
    Decoder decoder(codings, {});
    Buffer plain, expected;
    for (int i = 0; i < 50; ++i) {
      auto const part = buffer_of("<p>part " + std::to_string(i) + "</p>");
      expected.insert(expected.end(), part.begin(), part.end());
      Buffer coded;
      encoder.write(part, Until::kFlush, coded);
      ASSERT_TRUE(decoder.write(coded, plain));
      ASSERT_EQ(plain, expected);
    }
    Buffer last;
    encoder.write({}, Until::kEnd, last);
    ASSERT_TRUE(decoder.write(last, plain));
    EXPECT_TRUE(decoder.finish());
    EXPECT_EQ(plain, expected);
  }
}

TEST(Coding, TheEffortOfAnUnknownEncoderIsFoundFromItsSize) {
  auto const page = buffer_of(inject::sample_page(40'000));
  for (Coding const coding : {Coding::kGzip, Coding::kDeflate, Coding::kBrotli, Coding::kZstd}) {
    for (Effort const effort : {1, 4, 6, 9}) {
      auto const coded = encode({coding}, page, effort);
      auto const fitted = fit_effort(Codings{coding}, coded);
      ASSERT_TRUE(fitted);
      auto const again = encode({coding}, page, *fitted);
      EXPECT_NEAR(static_cast<double>(again.size()), static_cast<double>(coded.size()),
                  0.01 * static_cast<double>(coded.size()))
          << static_cast<int>(coding) << ' ' << effort << " as " << *fitted;
    }
  }
}

TEST(Coding, TheEffortOfALargeBodyIsFoundFromItsStart) {
  auto const page = buffer_of(inject::sample_page(1'000'000));
  for (Effort const effort : {1, 6, 9}) {
    auto const coded = encode({Coding::kGzip}, page, effort);
    auto const again = encode({Coding::kGzip}, page, *fit_effort(Codings{Coding::kGzip}, coded));
    EXPECT_NEAR(static_cast<double>(again.size()), static_cast<double>(coded.size()),
                0.03 * static_cast<double>(coded.size()));
  }
}

}  // namespace
}  // namespace reprise::coding
