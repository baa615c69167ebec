#include <zlib.h>

#include <array>

#include "base/coding/coding_stage.h"
#include "base/invariant.h"

namespace reprise::coding {
namespace {

// What zlib calls window bits also chooses the format.
int window_bits(Coding coding) {
  return coding == Coding::kGzip ? 15 + 16 : coding == Coding::kDeflate ? 15 : -15;
}

unsigned char* zlib_bytes(std::span<const std::byte> bytes) {
  return reinterpret_cast<unsigned char*>(const_cast<std::byte*>(bytes.data()));
}

class Inflate final : public Decoder::Stage {
 public:
  Inflate(Coding coding, DecodeLimits limits) : Stage(limits), coding_(coding) {}
  ~Inflate() override {
    if (started_) inflateEnd(&stream_);
  }

  Coding coding() const override { return coding_; }

  Result<void> write(std::span<const std::byte> coded, Buffer& plain) override {
    took(coded.size());
    if (started_) return inflate_all(coded, plain);
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
    // RFC 1950 section 2.2: method 8, a window of at most 32 KiB, and a check sum.
    bool const zlib =
        (byte(0) & 0x0F) == 8 && byte(0) >> 4 <= 7 && (byte(0) << 8 | byte(1)) % 31 == 0;
    if (coding_ == Coding::kDeflate && !zlib) coding_ = Coding::kRawDeflate;
    started_ = true;
    invariant(inflateInit2(&stream_, window_bits(coding_)) == Z_OK, "zlib has no memory");
    return {};
  }

  // What follows the end is ignored, as browsers do.
  Result<void> inflate_all(std::span<const std::byte> coded, Buffer& plain) {
    stream_.next_in = zlib_bytes(coded);
    stream_.avail_in = static_cast<unsigned>(coded.size());
    while (!ended_) {
      auto const space = room(plain);
      stream_.next_out = zlib_bytes(space);
      stream_.avail_out = static_cast<unsigned>(space.size());
      int const status = inflate(&stream_, Z_NO_FLUSH);
      bool const full = stream_.avail_out == 0;
      if (auto const kept = made(plain, space.size() - stream_.avail_out); !kept) return kept;
      if (status == Z_STREAM_END) {
        ended_ = true;
      } else if (status == Z_BUF_ERROR || (status == Z_OK && !full && stream_.avail_in == 0)) {
        break;
      } else if (status != Z_OK) {
        return fail(errc::not_that_coding);
      }
    }
    return {};
  }

  Coding coding_;
  bool started_ = false;
  std::array<std::byte, 2> first_{};
  std::size_t first_size_ = 0;
  z_stream stream_{};
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

std::unique_ptr<Decoder::Stage> zlib_decoder(Coding coding, DecodeLimits limits) {
  return std::make_unique<Inflate>(coding, limits);
}

std::unique_ptr<Encoder::Stage> zlib_encoder(Coding coding, Effort effort) {
  return std::make_unique<Deflate>(coding, effort);
}

}  // namespace reprise::coding
