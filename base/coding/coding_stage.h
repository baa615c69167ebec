#pragma once

#include <algorithm>

#include "base/coding/coding.h"
#include "base/coding/error.h"

namespace reprise::coding {

/// Decodes one coding.
class Decoder::Stage {
 public:
  explicit Stage(DecodeLimits limits) : limits_(limits) {}
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;
  virtual ~Stage() = default;

  virtual Result<void> write(std::span<const std::byte> coded, Buffer& plain) = 0;
  virtual Coding coding() const = 0;
  /// Counts bytes of the body as sent, with all codings applied.
  void body_has(std::size_t bytes) { body_bytes_ = bytes; }
  Result<void> finish() const {
    if (in_bytes_ > 0 && !ended_) return fail(errc::truncated);
    return {};
  }

 protected:
  static constexpr std::size_t kPieceBytes = 32 * 1024;

  void took(std::size_t bytes) { in_bytes_ += bytes; }
  /// Makes room for one piece at the end of `plain`; made() returns the unused rest.
  std::span<std::byte> room(Buffer& plain) const {
    plain.resize(plain.size() + kPieceBytes);
    return std::span(plain).last(kPieceBytes);
  }
  Result<void> made(Buffer& plain, std::size_t bytes) {
    plain.resize(plain.size() - kPieceBytes + bytes);
    out_bytes_ += bytes;
    if (out_bytes_ > limits_.bytes_max) return fail(errc::too_large);
    bool const small = out_bytes_ <= limits_.ratio_free;
    if (!small && out_bytes_ / limits_.ratio_max > body_bytes_) return fail(errc::bomb);
    return {};
  }

  bool ended_ = false;

 private:
  DecodeLimits limits_;
  std::size_t body_bytes_ = 0;
  std::size_t in_bytes_ = 0;
  std::size_t out_bytes_ = 0;
};

/// Encodes with one coding.
class Encoder::Stage {
 public:
  Stage() = default;
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;
  virtual ~Stage() = default;

  virtual void write(std::span<const std::byte> plain, Until until, Buffer& coded) = 0;
};

std::unique_ptr<Decoder::Stage> zlib_decoder(Coding coding, DecodeLimits limits,
                                             GzipTrailer trailer);
std::unique_ptr<Decoder::Stage> brotli_decoder(DecodeLimits limits);
std::unique_ptr<Decoder::Stage> zstd_decoder(DecodeLimits limits);
std::unique_ptr<Encoder::Stage> zlib_encoder(Coding coding, Effort effort);
std::unique_ptr<Encoder::Stage> brotli_encoder(Effort effort);
std::unique_ptr<Encoder::Stage> zstd_encoder(Effort effort);

}  // namespace reprise::coding
