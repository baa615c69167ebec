#pragma once

// Content codings, in and out: RFC 9110 section 8.4 (several in a row, "deflate"), RFC 1950, 1951,
// 1952, 7932 (br), 8878 and 9659 (zstd, with a window of 8 MiB at most). Streams; not thread-safe.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/http/headers.h"
#include "base/result.h"

namespace reprise::coding {

enum class Coding : std::uint8_t {
  kGzip,
  kDeflate,     ///< as the standard has it, inside the zlib format
  kRawDeflate,  ///< as some servers send it; found out by decoding
  kBrotli,
  kZstd,
};

using Buffer = std::vector<std::byte>;

/// What Content-Encoding says, in the order in which the codings were applied; "identity" is left
/// out. At most kCodingsMax. Errors: errc::unknown_coding.
Result<std::vector<Coding>> codings_of(HeaderList headers);
inline constexpr std::size_t kCodingsMax = 4;

/// How much a body may grow when it is decoded: what comes of each of its codings counts against
/// the body as it was sent, or three codings would be worth the third power.
struct DecodeLimits {
  std::size_t bytes_max = 64 << 20;
  std::size_t ratio_max = 250;       ///< decoded to coded,
  std::size_t ratio_free = 4 << 20;  ///< for bodies that decode to more than this
};

/// Decodes a body that comes in pieces.
class Decoder {
 public:
  Decoder(std::span<const Coding> codings, DecodeLimits limits);
  Decoder(Decoder&&) noexcept;
  ~Decoder();

  /// Appends to `plain` what `coded` makes known, never more than 32 KiB beyond the limits.
  /// Errors, after which nothing more must be written: errc::not_that_coding, too_large, bomb.
  Result<void> write(std::span<const std::byte> coded, Buffer& plain);

  /// The coded body has ended. Errors: errc::truncated. A body of no bytes is one.
  Result<void> finish();

  /// As given, but that kDeflate may turn out to be kRawDeflate once the first bytes are there.
  std::vector<Coding> codings() const;

  class Stage;

 private:
  std::size_t body_bytes_ = 0;
  std::vector<std::unique_ptr<Stage>> stages_;  // the last coding that was applied comes first
  std::vector<Buffer> between_;
};

/// How hard an encoder tries: the level of zlib (1 to 9), brotli (0 to 11) or zstd (1 to 19).
/// It counts for the first coding; others in a row have their default.
using Effort = int;

/// What servers commonly use for `coding`.
Effort default_effort(Coding coding);

enum class Until : std::uint8_t {
  kMore,   ///< more is coming soon
  kFlush,  ///< let out all that is known: nothing more may come for a while
  kEnd,
};

/// Encodes a body that comes in pieces.
class Encoder {
 public:
  Encoder(std::span<const Coding> codings, Effort effort);
  Encoder(Encoder&&) noexcept;
  ~Encoder();

  /// Appends to `coded`. Nothing may follow Until::kEnd.
  void write(std::span<const std::byte> plain, Until until, Buffer& coded);

  class Stage;

 private:
  std::vector<std::unique_ptr<Stage>> stages_;  // in the order of application
  std::vector<Buffer> between_;
};

/// What a Decoder makes of a whole body. `codings` become what decoding finds. Errors: as Decoder.
Result<Buffer> decode_whole(std::vector<Coding>& codings, std::span<const std::byte> body,
                            DecodeLimits limits);

/// The effort that brings an Encoder nearest to the size of `coded`, found by encoding its start
/// (kFitBytes) again, in a few milliseconds. `codings` are those that decoding found, not
/// empty. Errors: as Decoder.
Result<Effort> fit_effort(std::span<const Coding> codings, std::span<const std::byte> coded);
inline constexpr std::size_t kFitBytes = 64 * 1024;

}  // namespace reprise::coding
