#include <brotli/decode.h>
#include <brotli/encode.h>

#include "base/coding/coding_stage.h"
#include "base/invariant.h"

namespace reprise::coding {
namespace {

struct FreeBrotliDecoder {
  void operator()(BrotliDecoderState* state) const { BrotliDecoderDestroyInstance(state); }
};
struct FreeBrotliEncoder {
  void operator()(BrotliEncoderState* state) const { BrotliEncoderDestroyInstance(state); }
};

class BrotliDecode final : public Decoder::Stage {
 public:
  explicit BrotliDecode(DecodeLimits limits)
      : Stage(limits), state_(BrotliDecoderCreateInstance(nullptr, nullptr, nullptr)) {
    invariant(state_ != nullptr, "brotli has no memory");
  }

  Coding coding() const override { return Coding::kBrotli; }

  // Bytes after the end are ignored, as in browsers.
  Result<void> write(std::span<const std::byte> coded, Buffer& plain) override {
    took(coded.size());
    auto const* in = reinterpret_cast<const std::uint8_t*>(coded.data());
    auto in_left = coded.size();
    while (!ended_) {
      auto const space = room(plain);
      auto* out = reinterpret_cast<std::uint8_t*>(space.data());
      auto out_left = space.size();
      auto const status =
          BrotliDecoderDecompressStream(state_.get(), &in_left, &in, &out_left, &out, nullptr);
      if (auto const kept = made(plain, space.size() - out_left); !kept) return kept;
      if (status == BROTLI_DECODER_RESULT_ERROR) return fail(errc::not_that_coding);
      if (status == BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT) break;
      ended_ = status == BROTLI_DECODER_RESULT_SUCCESS;
    }
    return {};
  }

 private:
  std::unique_ptr<BrotliDecoderState, FreeBrotliDecoder> state_;
};

class BrotliEncode final : public Encoder::Stage {
 public:
  explicit BrotliEncode(Effort effort)
      : state_(BrotliEncoderCreateInstance(nullptr, nullptr, nullptr)) {
    invariant(state_ != nullptr, "brotli has no memory");
    auto const quality = static_cast<std::uint32_t>(std::clamp(effort, 0, 11));
    BrotliEncoderSetParameter(state_.get(), BROTLI_PARAM_QUALITY, quality);
    // The default of servers; decoders accept up to 24 without further settings.
    BrotliEncoderSetParameter(state_.get(), BROTLI_PARAM_LGWIN, 22);
    BrotliEncoderSetParameter(state_.get(), BROTLI_PARAM_MODE, BROTLI_MODE_TEXT);
  }

  void write(std::span<const std::byte> plain, Until until, Buffer& coded) override {
    auto const operation = until == Until::kEnd     ? BROTLI_OPERATION_FINISH
                           : until == Until::kFlush ? BROTLI_OPERATION_FLUSH
                                                    : BROTLI_OPERATION_PROCESS;
    auto const* in = reinterpret_cast<const std::uint8_t*>(plain.data());
    auto in_left = plain.size();
    do {
      std::size_t none = 0;
      invariant(BrotliEncoderCompressStream(state_.get(), operation, &in_left, &in, &none, nullptr,
                                            nullptr) == BROTLI_TRUE,
                "brotli refuses to encode");
      std::size_t size = 0;
      auto const* const out =
          reinterpret_cast<const std::byte*>(BrotliEncoderTakeOutput(state_.get(), &size));
      coded.insert(coded.end(), out, out + size);
    } while (in_left > 0 || BrotliEncoderHasMoreOutput(state_.get()) == BROTLI_TRUE);
  }

 private:
  std::unique_ptr<BrotliEncoderState, FreeBrotliEncoder> state_;
};

}  // namespace

std::unique_ptr<Decoder::Stage> brotli_decoder(DecodeLimits limits) {
  return std::make_unique<BrotliDecode>(limits);
}

std::unique_ptr<Encoder::Stage> brotli_encoder(Effort effort) {
  return std::make_unique<BrotliEncode>(effort);
}

}  // namespace reprise::coding
