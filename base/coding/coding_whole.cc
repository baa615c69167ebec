// Whole bodies. gzip is decoded by libdeflate, which takes a third of zlib's time but supports no
// streams. It does not encode: most recorded bodies come from zlib, and only zlib reproduces their
// size.

#include <libdeflate.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>

#include "base/coding/coding.h"
#include "base/coding/error.h"
#include "base/invariant.h"

namespace reprise::coding {
namespace {

/// Larger bodies are not encoded with the greatest effort, which would take seconds.
constexpr std::size_t kHardestBytesMax = 64 << 10;
/// The greatest effort is used if the result of the one before is too large by this fraction (1/N).
constexpr std::size_t kMuchTooLarge = 50;

/// Decodes one gzip member that gives its length, as RFC 1952 requires. False: use the Decoder,
/// because the body is larger, has several members, or a false length.
bool inflate_member(std::span<const std::byte> coded, DecodeLimits limits, Buffer& plain) {
  constexpr std::size_t kMemberBytesMin = 18;
  if (coded.size() < kMemberBytesMin) return false;
  std::size_t size = 0;  // the last four bytes, little endian
  for (std::size_t i = 1; i <= 4; ++i) {
    size = size << 8 | std::to_integer<std::size_t>(coded[coded.size() - i]);
  }
  bool const small = size <= limits.ratio_free || size / limits.ratio_max <= coded.size();
  if (size > limits.bytes_max || !small) return false;
  std::unique_ptr<libdeflate_decompressor, decltype(&libdeflate_free_decompressor)> const inflater(
      libdeflate_alloc_decompressor(), &libdeflate_free_decompressor);
  invariant(inflater != nullptr, "libdeflate has no memory");
  plain.resize(size);
  std::size_t used = 0;
  std::size_t made = 0;
  return libdeflate_gzip_decompress_ex(inflater.get(), coded.data(), coded.size(), plain.data(),
                                       plain.size(), &used, &made) == LIBDEFLATE_SUCCESS &&
         made == size && used == coded.size();
}

/// The efforts to try, the least first.
std::span<const Effort> efforts_of(Coding coding) {
  static constexpr Effort kZlib[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  static constexpr Effort kBrotli[] = {0, 1, 2, 3, 4, 5, 6, 9, 11};
  static constexpr Effort kZstd[] = {1, 2, 3, 5, 7, 9, 12, 15, 19};
  if (coding == Coding::kBrotli) return kBrotli;
  if (coding == Coding::kZstd) return kZstd;
  return kZlib;
}

}  // namespace

Result<Buffer> decode_whole(std::vector<Coding>& codings, std::span<const std::byte> body,
                            DecodeLimits limits) {
  auto found = codings;
  auto decoded = decode_available(found, body, limits);
  if (!decoded) return fail(decoded.error());
  if (decoded->is_truncated) return fail(errc::truncated);
  codings = std::move(found);
  return std::move(decoded->plain);
}

Result<DecodedBody> decode_available(std::vector<Coding>& codings, std::span<const std::byte> body,
                                     DecodeLimits limits) {
  DecodedBody decoded;
  if (codings.size() == 1 && codings.front() == Coding::kGzip &&
      inflate_member(body, limits, decoded.plain)) {
    return decoded;
  }
  decoded.plain.clear();
  Decoder decoder(codings, limits);
  if (auto const done = decoder.write(body, decoded.plain); !done) return fail(done.error());
  decoded.is_truncated = !decoder.finish();
  codings = decoder.codings();
  return decoded;
}

Result<Effort> fit_effort(std::span<const Coding> codings, std::span<const std::byte> coded) {
  constexpr std::size_t kStepBytes = 256;
  Decoder decoder(codings, {});
  Buffer plain;
  std::size_t used = 0;
  while (used < coded.size() && plain.size() < kFitBytes) {
    auto const step = coded.subspan(used, std::min(kStepBytes, coded.size() - used));
    if (auto const done = decoder.write(step, plain); !done) return fail(done.error());
    used += step.size();
  }
  auto const size_at = [&](Effort effort) {
    Buffer again;
    Encoder(codings, effort).write(plain, Until::kEnd, again);
    return again.size();
  };
  // Sizes decrease with the effort: find the first that is not larger, and the one before. The last
  // effort may take a hundred times as long as the others, so it is not tried, but used if all
  // others are much too large.
  auto const efforts = efforts_of(codings.front());
  std::size_t first = 0;
  std::size_t last = efforts.size() - 1;
  std::optional<std::size_t> smaller;
  std::size_t larger = 0;
  while (first < last) {
    auto const middle = std::midpoint(first, last);
    auto const size = size_at(efforts[middle]);
    if (size <= used) {
      last = middle;
      smaller = size;
    } else {
      first = middle + 1;
      larger = size;
    }
  }
  if (last == 0) return efforts[last];
  auto const shortfall = smaller ? used - *smaller : used / kMuchTooLarge;
  bool const hardest = last == efforts.size() - 1;
  bool const before = larger - used <= shortfall || (hardest && coded.size() > kHardestBytesMax);
  return efforts[before ? last - 1 : last];
}

}  // namespace reprise::coding
