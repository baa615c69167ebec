#include "archive/import/source/decompress.h"

#include <zlib.h>
#include <zstd.h>

#include <utility>

#include "archive/import/source/inflate_step.h"

namespace reprise::importing {
namespace {

constexpr std::string_view kFrameMagic = "\x28\xb5\x2f\xfd";

/// Bare deflate.
class Inflate final : public Decompressor {
 public:
  explicit Inflate(std::unique_ptr<ByteSource> from) : Decompressor(std::move(from)) {
    ::inflateInit2(&stream_, -15);
  }
  ~Inflate() override { ::inflateEnd(&stream_); }
  Inflate(const Inflate&) = delete;
  Inflate& operator=(const Inflate&) = delete;

  std::size_t read(std::span<char> into) override {
    while (!fault_ && !over_) {
      if (!refill()) {
        bad("the compressed data end too early");
        return 0;
      }
      auto const step = inflate_step(stream_, held(), into);
      take(step.taken);
      over_ = step.code == Z_STREAM_END;
      if (!over_ && step.code != Z_OK && step.code != Z_BUF_ERROR) bad(broken_text(stream_));
      if (step.given > 0) return give(step.given);
    }
    return 0;
  }

 private:
  z_stream stream_{};
  bool over_ = false;
};

class Unzstd final : public Decompressor {
 public:
  explicit Unzstd(std::unique_ptr<ByteSource> from) : Decompressor(std::move(from)) {}
  ~Unzstd() override { ::ZSTD_freeDCtx(context_); }
  Unzstd(const Unzstd&) = delete;
  Unzstd& operator=(const Unzstd&) = delete;

  /// At the next frame; the dictionary stays.
  bool resume() override {
    auto const damage = std::exchange(fault_, std::nullopt);
    // Of a broken frame zstd takes nothing more.
    if (!damage->system && refill()) take(1);
    if (!damage->system && seek(kFrameMagic)) {
      ::ZSTD_DCtx_reset(context_, ZSTD_reset_session_only);
      between_frames_ = true;
      return true;
    }
    fault_ = damage;
    return false;
  }

  std::size_t read(std::span<char> into) override {
    if (!started_) start();
    while (!fault_) {
      if (!refill()) {
        if (!between_frames_) bad("the compressed data end too early");
        return 0;
      }
      auto const held_now = held();
      ZSTD_inBuffer in{held_now.data(), held_now.size(), 0};
      ZSTD_outBuffer out{into.data(), into.size(), 0};
      auto const code = ::ZSTD_decompressStream(context_, &out, &in);
      take(in.pos);
      between_frames_ = code == 0;
      if (::ZSTD_isError(code) != 0) {
        bad(std::string("broken compressed data: ") + ::ZSTD_getErrorName(code));
      }
      if (out.pos > 0) return give(out.pos);
    }
    return 0;
  }

 private:
  static constexpr std::uint32_t kDictionaryMagic = 0x184d2a5d;
  static constexpr std::size_t kDictionaryBytesMax = 16 << 20;

  static std::uint32_t number(std::string_view bytes) {
    std::uint32_t value = 0;
    for (std::size_t i = 4; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
    return value;
  }

  /// The dictionary frame, if there is one: "magic, length, dictionary".
  void start() {
    started_ = true;
    if (!refill() || held().size() < 8 || number(held()) != kDictionaryMagic) return;
    auto left = number(held().substr(4));
    take(8);
    if (left > kDictionaryBytesMax) return bad("the dictionary is larger than 16 MiB");
    std::string dictionary;
    while (left > 0 && refill()) {
      auto const piece = held().substr(0, left);
      dictionary += piece;
      left -= static_cast<std::uint32_t>(piece.size());
      take(piece.size());
    }
    if (left > 0) return bad("the file ends inside the dictionary");
    if (dictionary.starts_with(kFrameMagic)) dictionary = expand(dictionary);
    if (::ZSTD_isError(
            ::ZSTD_DCtx_loadDictionary(context_, dictionary.data(), dictionary.size())) != 0) {
      bad("the dictionary is invalid");
    }
  }

  /// The dictionary may be compressed itself.
  static std::string expand(const std::string& compressed) {
    MemoryInput input(compressed);
    Unzstd source(std::make_unique<InputSource>(input, 0, compressed.size(), nullptr));
    source.started_ = true;  // it has no dictionary of its own
    std::string plain(kDictionaryBytesMax, '\0');
    std::size_t size = 0;
    while (size < plain.size()) {
      auto const got = source.read(std::span(plain).subspan(size));
      if (got == 0) break;
      size += got;
    }
    plain.resize(size);
    return plain;
  }

  ZSTD_DCtx* context_ = ::ZSTD_createDCtx();
  bool started_ = false;
  bool between_frames_ = true;
};

}  // namespace

Compression compression_of(std::string_view start) {
  if (start.starts_with("\x1f\x8b")) return Compression::kGzip;
  if (start.starts_with(kFrameMagic) || start.starts_with("\x5d\x2a\x4d\x18")) {
    return Compression::kZstd;
  }
  return Compression::kNone;
}

std::unique_ptr<ByteSource> make_unzstd(std::unique_ptr<ByteSource> from) {
  return std::make_unique<Unzstd>(std::move(from));
}
std::unique_ptr<ByteSource> make_inflate(std::unique_ptr<ByteSource> from) {
  return std::make_unique<Inflate>(std::move(from));
}

std::unique_ptr<ByteSource> decompressed(std::unique_ptr<ByteSource> from, std::string_view start) {
  switch (compression_of(start)) {
    case Compression::kGzip:
      return make_gunzip(std::move(from));
    case Compression::kZstd:
      return make_unzstd(std::move(from));
    case Compression::kNone:
      break;
  }
  return from;
}

}  // namespace reprise::importing
