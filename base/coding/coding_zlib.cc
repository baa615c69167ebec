#include <zlib.h>

#include <array>
#include <optional>

#include "base/coding/coding_stage.h"
#include "base/coding/inflation.h"
#include "base/invariant.h"

namespace reprise::coding {
namespace {

// zlib's window bits also select the format.
int window_bits(Coding coding) {
  return coding == Coding::kGzip ? 15 + 16 : coding == Coding::kDeflate ? 15 : -15;
}

unsigned char* zlib_bytes(std::span<const std::byte> bytes) {
  return reinterpret_cast<unsigned char*>(const_cast<std::byte*>(bytes.data()));
}

class Inflate final : public Decoder::Stage {
 public:
  Inflate(Coding coding, DecodeLimits limits, GzipTrailer trailer)
      : Stage(limits),
        coding_(coding),
        gzip_(trailer == GzipTrailer::kChecked ? Inflation::Format::kGzip
                                               : Inflation::Format::kGzipData) {}

  Coding coding() const override { return coding_; }

  Result<void> write(std::span<const std::byte> coded, Buffer& plain) override {
    took(coded.size());
    if (inflation_) return inflate_all(coded, plain);
    while (!coded.empty() && first_size_ < first_.size()) {
      first_[first_size_++] = coded.front();
      coded = coded.subspan(1);
    }
    if (first_size_ < first_.size()) return {};
    if (auto const started = start(); !started) return started;
    if (auto const done = inflate_all(first_, plain); !done) return done;
    return inflate_all(coded, plain);
  }

 private:
  Result<void> start() {
    auto const byte = [this](std::size_t i) { return static_cast<unsigned>(first_[i]); };
    if (coding_ == Coding::kGzip && (byte(0) != 0x1F || byte(1) != 0x8B)) {
      return fail(errc::not_that_coding);
    }
    // RFC 1950 section 2.2: method 8, a window of at most 32 KiB, and a checksum.
    bool const zlib =
        (byte(0) & 0x0F) == 8 && byte(0) >> 4 <= 7 && (byte(0) << 8 | byte(1)) % 31 == 0;
    if (coding_ == Coding::kDeflate && !zlib) coding_ = Coding::kRawDeflate;
    inflation_.emplace(coding_ == Coding::kGzip      ? gzip_
                       : coding_ == Coding::kDeflate ? Inflation::Format::kZlib
                                                     : Inflation::Format::kRaw);
    return {};
  }

  // Bytes after the end are ignored, as in browsers.
  Result<void> inflate_all(std::span<const std::byte> coded, Buffer& plain) {
    bool full = false;
    while (!ended_ && (!coded.empty() || full)) {
      auto const space = room(plain);
      auto const step = inflation_->step(coded, space);
      coded = coded.subspan(step.taken);
      full = step.given == space.size();
      if (auto const kept = made(plain, step.given); !kept) return kept;
      if (step.state == InflationStep::State::kBroken) return fail(errc::not_that_coding);
      ended_ = step.state == InflationStep::State::kEnded;
    }
    return {};
  }

  Coding coding_;
  Inflation::Format gzip_;
  std::array<std::byte, 2> first_{};
  std::size_t first_size_ = 0;
  std::optional<Inflation> inflation_;  // once the first bytes have arrived
};

class Deflate final : public Encoder::Stage {
 public:
  Deflate(Coding coding, Effort effort) {
    auto const level = std::clamp(effort, 1, 9);
    invariant(deflateInit2(&stream_, level, Z_DEFLATED, window_bits(coding), 8,
                           Z_DEFAULT_STRATEGY) == Z_OK,
              "zlib has no memory");
  }
  ~Deflate() override { deflateEnd(&stream_); }

  void write(std::span<const std::byte> plain, Until until, Buffer& coded) override {
    int const mode = until == Until::kEnd     ? Z_FINISH
                     : until == Until::kFlush ? Z_SYNC_FLUSH
                                              : Z_NO_FLUSH;
    stream_.next_in = zlib_bytes(plain);
    stream_.avail_in = static_cast<unsigned>(plain.size());
    auto piece = deflateBound(&stream_, plain.size()) + 64;
    do {
      auto const before = coded.size();
      coded.resize(before + piece);
      stream_.next_out = zlib_bytes(std::span(coded).subspan(before));
      stream_.avail_out = static_cast<unsigned>(piece);
      deflate(&stream_, mode);
      coded.resize(coded.size() - stream_.avail_out);
      piece = std::size_t{4096};
    } while (stream_.avail_out == 0);
  }

 private:
  z_stream stream_{};
};

}  // namespace

std::unique_ptr<Decoder::Stage> zlib_decoder(Coding coding, DecodeLimits limits,
                                             GzipTrailer trailer) {
  return std::make_unique<Inflate>(coding, limits, trailer);
}

std::unique_ptr<Encoder::Stage> zlib_encoder(Coding coding, Effort effort) {
  return std::make_unique<Deflate>(coding, effort);
}

}  // namespace reprise::coding
