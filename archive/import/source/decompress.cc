#include "archive/import/source/decompress.h"

#include <utility>

#include "archive/import/source/decompressor.h"
#include "base/bytes.h"
#include "base/coding/inflation.h"

namespace reprise::importing {
namespace {

using coding::Inflation;
using coding::InflationStep;
using coding::ZstdInflation;

constexpr std::string_view kFrameMagic = "\x28\xb5\x2f\xfd";

/// Raw deflate.
class Inflate final : public Decompressor {
 public:
  explicit Inflate(std::unique_ptr<ByteSource> from) : Decompressor(std::move(from)) {}

  std::size_t read(std::span<char> into) override {
    while (!fault_ && !over_) {
      if (!refill()) {
        bad("the compressed data end too early");
        return 0;
      }
      auto const step = inflation_.step(bytes_of(held()), std::as_writable_bytes(into));
      take(step.taken);
      over_ = step.state == InflationStep::State::kEnded;
      if (step.state == InflationStep::State::kBroken) bad(inflation_.problem());
      if (step.given > 0) return give(step.given);
    }
    return 0;
  }

 private:
  Inflation inflation_{Inflation::Format::kRaw};
  bool over_ = false;
};

class Unzstd final : public Decompressor {
 public:
  explicit Unzstd(std::unique_ptr<ByteSource> from) : Decompressor(std::move(from)) {}

  /// Continues at the next frame; the dictionary is kept.
  bool resume() override {
    auto const damage = std::exchange(fault_, std::nullopt);
    // zstd accepts no more bytes of a broken frame.
    if (!damage->system && refill()) take(1);
    if (!damage->system && seek(kFrameMagic)) {
      inflation_.restart();
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
      auto const step = inflation_.step(bytes_of(held()), std::as_writable_bytes(into));
      take(step.taken);
      between_frames_ = step.state == InflationStep::State::kEnded;
      if (step.state == InflationStep::State::kBroken) bad(inflation_.problem());
      if (step.given > 0) return give(step.given);
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

  /// Reads the dictionary frame, if there is one: "magic, length, dictionary".
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
    if (!inflation_.use_dictionary(bytes_of(dictionary))) bad("the dictionary is invalid");
  }

  /// The dictionary may itself be compressed.
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

  ZstdInflation inflation_;
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
