#include <zstd.h>

#include "base/coding/coding_stage.h"
#include "base/coding/inflation.h"
#include "base/invariant.h"

namespace reprise::coding {
namespace {

struct FreeZstdEncoder {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};
constexpr int kWindowLogMax = 23;  // RFC 9659

class ZstdDecode final : public Decoder::Stage {
 public:
  explicit ZstdDecode(DecodeLimits limits) : Stage(limits) {}

  Coding coding() const override { return Coding::kZstd; }

  Result<void> write(std::span<const std::byte> coded, Buffer& plain) override {
    took(coded.size());
    bool full = false;
    while (!coded.empty() || full) {
      auto const space = room(plain);
      auto const step = inflation_.step(coded, space);
      coded = coded.subspan(step.taken);
      if (auto const kept = made(plain, step.given); !kept) return kept;
      if (step.state == InflationStep::State::kBroken) return fail(errc::not_that_coding);
      ended_ = step.state == InflationStep::State::kEnded;  // of one frame; others may follow
      full = step.given == space.size() && !ended_;
    }
    return {};
  }

 private:
  ZstdInflation inflation_{kWindowLogMax};
};

class ZstdEncode final : public Encoder::Stage {
 public:
  explicit ZstdEncode(Effort effort) : context_(ZSTD_createCCtx()) {
    invariant(context_ != nullptr, "zstd has no memory");
    auto const level = std::clamp(effort, 1, 19);
    ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, level);
    if (level > 16) ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_windowLog, kWindowLogMax);
  }

  void write(std::span<const std::byte> plain, Until until, Buffer& coded) override {
    auto const mode = until == Until::kEnd     ? ZSTD_e_end
                      : until == Until::kFlush ? ZSTD_e_flush
                                               : ZSTD_e_continue;
    ZSTD_inBuffer in{.src = plain.data(), .size = plain.size(), .pos = 0};
    std::size_t left = 0;
    do {
      auto const before = coded.size();
      coded.resize(before + ZSTD_CStreamOutSize());
      ZSTD_outBuffer out{.dst = coded.data() + before, .size = coded.size() - before, .pos = 0};
      left = ZSTD_compressStream2(context_.get(), &out, &in, mode);
      invariant(ZSTD_isError(left) == 0U, "zstd refuses to encode");
      coded.resize(before + out.pos);
    } while (in.pos < in.size || (left > 0 && until != Until::kMore));
  }

 private:
  std::unique_ptr<ZSTD_CCtx, FreeZstdEncoder> context_;
};

}  // namespace

std::unique_ptr<Decoder::Stage> zstd_decoder(DecodeLimits limits) {
  return std::make_unique<ZstdDecode>(limits);
}

std::unique_ptr<Encoder::Stage> zstd_encoder(Effort effort) {
  return std::make_unique<ZstdEncode>(effort);
}

}  // namespace reprise::coding
