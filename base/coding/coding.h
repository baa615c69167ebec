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
  kDeflate,     ///< inside the zlib format, as the standard says
  kRawDeflate,  ///< without it, as some servers send it; detected by decoding
  kBrotli,
  kZstd,
};

using Buffer = std::vector<std::byte>;

/// The codings of Content-Encoding, in the order in which they were applied, without "identity".
/// At most kCodingsMax. Values that name no registered coding ("utf-8", "none") are ignored, as in
/// browsers. Errors: errc::unknown_coding, for registered codings that cannot be decoded here, and
/// for ignored values beside a coding, where browsers differ.
Result<std::vector<Coding>> codings_of(HeaderList headers);
inline constexpr std::size_t kCodingsMax = 4;

/// How much a body may grow when it is decoded. The output of each coding is compared with the body
/// as sent; otherwise three codings could grow it by the third power.
struct DecodeLimits {
  std::size_t bytes_max = 64 << 20;
  std::size_t ratio_max = 250;       ///< decoded to coded,
  std::size_t ratio_free = 4 << 20;  ///< for bodies that decode to more than this
};

/// The use of a gzip trailer: a CRC and a length.
enum class GzipTrailer : std::uint8_t {
  kIgnored,  ///< as in browsers: the body ends before it, and it can be wrong or missing
  kChecked,
};

/// Decodes a body piece by piece.
class Decoder {
 public:
  Decoder(std::span<const Coding> codings, DecodeLimits limits,
          GzipTrailer trailer = GzipTrailer::kIgnored);
  Decoder(Decoder&&) noexcept;
  ~Decoder();

  /// Decodes `coded` and appends the result to `plain`, at most 32 KiB beyond the limits.
  /// Errors, after which write() must not be called: errc::not_that_coding, too_large, bomb. The
  /// bytes before the error have been appended.
  Result<void> write(std::span<const std::byte> coded, Buffer& plain);

  /// Ends the coded body. An empty body is valid. Errors: errc::truncated.
  Result<void> finish();

  /// As given, except that kDeflate can become kRawDeflate once the first bytes are decoded.
  std::vector<Coding> codings() const;

  class Stage;

 private:
  std::size_t body_bytes_ = 0;
  std::vector<std::unique_ptr<Stage>> stages_;  // the last coding that was applied comes first
  std::vector<Buffer> between_;
};

/// Compression level: zlib 1 to 9, brotli 0 to 11, zstd 1 to 19. It is used for the first coding;
/// further codings use their default.
using Effort = int;

/// The level that servers commonly use for `coding`.
Effort default_effort(Coding coding);

enum class Until : std::uint8_t {
  kMore,   ///< more is coming soon
  kFlush,  ///< write everything out now: more data may take a while
  kEnd,
};

/// Encodes a body piece by piece.
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

/// Decodes a whole body. Updates `codings` to those that decoding found. Errors: as Decoder.
Result<Buffer> decode_whole(std::vector<Coding>& codings, std::span<const std::byte> body,
                            DecodeLimits limits);

/// A body as far as it goes.
struct DecodedBody {
  Buffer plain;
  bool is_truncated = false;
};

/// As decode_whole(), but a body that ends early is no error: browsers show it as far as it goes.
Result<DecodedBody> decode_available(std::vector<Coding>& codings, std::span<const std::byte> body,
                                     DecodeLimits limits);

/// The level whose output is nearest to the size of `coded`. Encodes the start (kFitBytes) again
/// with several levels, which takes a few milliseconds. `codings`: as found by decoding, not empty.
/// Errors: as Decoder.
Result<Effort> fit_effort(std::span<const Coding> codings, std::span<const std::byte> coded);
inline constexpr std::size_t kFitBytes = 64 * 1024;

}  // namespace reprise::coding
