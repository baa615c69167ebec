#include "archive/import/collect/coding_check.h"

#include <brotli/decode.h>
#include <libdeflate.h>
#include <zlib.h>
#include <zstd.h>

#include <array>
#include <optional>
#include <string>
#include <utility>

#include "base/http/headers.h"

namespace reprise::importing {

/// One coding. step() decodes all of `in`.
class CodingCheck::Decoder {
 public:
  enum class State : std::uint8_t { kGoingOn, kEnded, kFailed };

  virtual ~Decoder() = default;
  virtual State step(std::string_view in) = 0;
  /// Nothing more comes.
  virtual void end() {}

  void append(std::string_view in) {
    if (state != State::kFailed && decoded < kDecodedBytesMax) state = step(in);
  }

  State state = State::kGoingOn;
  std::uint64_t decoded = 0;

 protected:
  std::array<unsigned char, 64 << 10> out_;
};

namespace {

using State = CodingCheck::Decoder::State;

unsigned char* zlib_bytes(std::string_view text) {
  return const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(text.data()));
}

/// gzip of several members, zlib's format, or bare deflate, which some servers call deflate.
class Inflater final : public CodingCheck::Decoder {
 public:
  explicit Inflater(bool gzip) : gzip_(gzip) { start(gzip ? kGzip : kZlib); }
  ~Inflater() override { ::inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  State step(std::string_view in) override {
    if (!gzip_ && !begun_ && !in.empty()) {
      begun_ = true;
      if ((static_cast<unsigned char>(in.front()) & 0x0f) != Z_DEFLATED) restart(kBare);
    }
    stream_.next_in = zlib_bytes(in);
    stream_.avail_in = static_cast<unsigned>(in.size());
    while (true) {
      if (ended_) {
        if (stream_.avail_in == 0) return State::kEnded;
        // Another member may follow; anything else is padding, which decoders pass over.
        if (!gzip_ || *stream_.next_in != 0x1f) return State::kEnded;
        restart(kGzip);
      }
      stream_.next_out = out_.data();
      stream_.avail_out = static_cast<unsigned>(out_.size());
      auto const code = ::inflate(&stream_, Z_NO_FLUSH);
      decoded += out_.size() - stream_.avail_out;
      if (code == Z_STREAM_END) {
        ended_ = true;
      } else if (code != Z_OK && code != Z_BUF_ERROR) {
        return State::kFailed;
      } else if (stream_.avail_out > 0 || decoded >= CodingCheck::kDecodedBytesMax) {
        return State::kGoingOn;
      }
    }
  }

 private:
  static constexpr int kGzip = 15 + 16;
  static constexpr int kZlib = 15;
  static constexpr int kBare = -15;

  void start(int window_bits) { ::inflateInit2(&stream_, window_bits); }
  void restart(int window_bits) {
    ended_ = false;
    ::inflateReset2(&stream_, window_bits);
  }

  z_stream stream_{};
  bool gzip_;
  bool begun_ = false;
  bool ended_ = false;
};

/// gzip bodies of ordinary size are held, and decoded in one go: libdeflate is twice as fast as
/// zlib, and wants all of it. Whatever does not go that way is the other's to judge.
class HeldInflater final : public CodingCheck::Decoder {
 public:
  State step(std::string_view in) override {
    if (!streaming_ && held_.size() + in.size() <= kHeldBytes) {
      held_ += in;
      return State::kGoingOn;
    }
    if (!std::exchange(streaming_, true)) stream_.append(std::exchange(held_, {}));
    stream_.append(in);
    decoded = stream_.decoded;
    return stream_.state;
  }

  void end() override {
    if (streaming_ || held_.empty()) return;
    if (auto const size = decode_whole()) {
      decoded = *size;
      state = State::kEnded;
      return;
    }
    stream_.append(held_);
    decoded = stream_.decoded;
    state = stream_.state;
  }

 private:
  static constexpr std::size_t kHeldBytes = 1 << 20;
  static constexpr std::size_t kPlainBytes = 4 << 20;

  struct Free {
    void operator()(libdeflate_decompressor* decompressor) const {
      ::libdeflate_free_decompressor(decompressor);
    }
  };

  /// The decoded size of a single member that is all there is.
  std::optional<std::size_t> decode_whole() {
    std::unique_ptr<libdeflate_decompressor, Free> const whole(::libdeflate_alloc_decompressor());
    auto const plain = std::make_unique_for_overwrite<char[]>(kPlainBytes);
    std::size_t taken = 0;
    std::size_t size = 0;
    if (whole == nullptr ||
        ::libdeflate_gzip_decompress_ex(whole.get(), held_.data(), held_.size(), plain.get(),
                                        kPlainBytes, &taken, &size) != LIBDEFLATE_SUCCESS) {
      return std::nullopt;
    }
    return taken == held_.size() ? std::optional(size) : std::nullopt;
  }

  Inflater stream_{true};
  std::string held_;
  bool streaming_ = false;
};

class Unbrotler final : public CodingCheck::Decoder {
 public:
  ~Unbrotler() override { ::BrotliDecoderDestroyInstance(state_); }
  Unbrotler() = default;
  Unbrotler(const Unbrotler&) = delete;
  Unbrotler& operator=(const Unbrotler&) = delete;

  State step(std::string_view in) override {
    auto available_in = in.size();
    const std::uint8_t* next_in = zlib_bytes(in);
    while (true) {
      auto available_out = out_.size();
      std::uint8_t* next_out = out_.data();
      auto const code = ::BrotliDecoderDecompressStream(state_, &available_in, &next_in,
                                                        &available_out, &next_out, nullptr);
      decoded += out_.size() - available_out;
      if (code == BROTLI_DECODER_RESULT_SUCCESS) {
        return available_in == 0 ? State::kEnded : State::kFailed;
      }
      if (code == BROTLI_DECODER_RESULT_ERROR) return State::kFailed;
      if (code == BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT ||
          decoded >= CodingCheck::kDecodedBytesMax) {
        return State::kGoingOn;
      }
    }
  }

 private:
  BrotliDecoderState* state_ = ::BrotliDecoderCreateInstance(nullptr, nullptr, nullptr);
};

class Unzstd final : public CodingCheck::Decoder {
 public:
  // 8 MiB is the window that HTTP allows (RFC 9659).
  Unzstd() { ::ZSTD_DCtx_setParameter(context_, ZSTD_d_windowLogMax, 23); }
  ~Unzstd() override { ::ZSTD_freeDStream(context_); }
  Unzstd(const Unzstd&) = delete;
  Unzstd& operator=(const Unzstd&) = delete;

  State step(std::string_view in) override {
    ZSTD_inBuffer input{in.data(), in.size(), 0};
    while (true) {
      ZSTD_outBuffer output{out_.data(), out_.size(), 0};
      auto const code = ::ZSTD_decompressStream(context_, &output, &input);
      decoded += output.pos;
      if (::ZSTD_isError(code) != 0) return State::kFailed;
      if (decoded >= CodingCheck::kDecodedBytesMax) return State::kGoingOn;
      if (input.pos == input.size && output.pos < output.size) {
        return code == 0 ? State::kEnded : State::kGoingOn;
      }
    }
  }

 private:
  ZSTD_DStream* context_ = ::ZSTD_createDStream();
};

std::unique_ptr<CodingCheck::Decoder> make_decoder(std::string_view declared) {
  if (auto const comma = declared.rfind(','); comma != std::string_view::npos) {
    declared.remove_prefix(comma + 1);
  }
  while (declared.starts_with(' ')) declared.remove_prefix(1);
  while (declared.ends_with(' ')) declared.remove_suffix(1);
  auto const is = [declared](std::string_view name) {
    return equals_ignoring_case(declared, name);
  };
  if (is("gzip") || is("x-gzip")) return std::make_unique<HeldInflater>();
  if (is("deflate")) return std::make_unique<Inflater>(false);
  if (is("br")) return std::make_unique<Unbrotler>();
  if (is("zstd")) return std::make_unique<Unzstd>();
  return nullptr;
}

}  // namespace

CodingCheck::CodingCheck(std::string_view declared) : decoder_(make_decoder(declared)) {}
CodingCheck::~CodingCheck() = default;
CodingCheck::CodingCheck(CodingCheck&&) noexcept = default;

void CodingCheck::append(std::string_view bytes) {
  taken_ += bytes.size();
  if (decoder_ && !bytes.empty()) decoder_->append(bytes);
}

CodingVerdict CodingCheck::finish() {
  if (!decoder_) return CodingVerdict::kNone;
  decoder_->end();
  if (taken_ == 0 || decoder_->state == State::kEnded || decoder_->decoded >= kDecodedBytesMax) {
    return CodingVerdict::kDecodes;
  }
  auto const nothing_came = decoder_->state == State::kFailed && decoder_->decoded == 0;
  return nothing_came ? CodingVerdict::kNotCoded : CodingVerdict::kBroken;
}

}  // namespace reprise::importing
