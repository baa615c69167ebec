#include "base/coding/coding.h"

#include <algorithm>
#include <array>
#include <ranges>

#include "base/coding/coding_stage.h"
#include "base/http/h1_syntax.h"
#include "base/text/white_space.h"

namespace reprise::coding {
namespace {

// IANA's registry of HTTP content codings, without those that are decoded here.
constexpr auto kOtherCodings = std::to_array<std::string_view>(
    {"aes128gcm", "compress", "dcb", "dcz", "exi", "pack200-gzip", "x-compress"});

/// Whether browsers take `name` for nothing. They refuse a value that is not a token.
bool is_ignored(std::string_view name) {
  return is_token(name) && std::ranges::none_of(kOtherCodings, [name](std::string_view coding) {
           return equals_ignoring_case(name, coding);
         });
}

std::unique_ptr<Decoder::Stage> decoder_of(Coding coding, DecodeLimits limits,
                                           GzipTrailer trailer) {
  if (coding == Coding::kBrotli) return brotli_decoder(limits);
  if (coding == Coding::kZstd) return zstd_decoder(limits);
  return zlib_decoder(coding, limits, trailer);
}

std::unique_ptr<Encoder::Stage> encoder_of(Coding coding, Effort effort) {
  if (coding == Coding::kBrotli) return brotli_encoder(effort);
  if (coding == Coding::kZstd) return zstd_encoder(effort);
  return zlib_encoder(coding, effort);
}

}  // namespace

Result<std::vector<Coding>> codings_of(HeaderList headers) {
  std::vector<Coding> codings;
  bool any_ignored = false;
  for (const HeaderView& field : headers) {
    if (!equals_ignoring_case(field.name, "content-encoding")) continue;
    for (auto const part : std::views::split(field.value, ',')) {
      auto const name = trim(std::string_view(part));
      auto const is = [name](std::string_view known) { return equals_ignoring_case(name, known); };
      if (name.empty() || is("identity")) continue;
      if (is("gzip") || is("x-gzip")) {
        codings.push_back(Coding::kGzip);
      } else if (is("deflate")) {
        codings.push_back(Coding::kDeflate);
      } else if (is("br")) {
        codings.push_back(Coding::kBrotli);
      } else if (is("zstd")) {
        codings.push_back(Coding::kZstd);
      } else if (is_ignored(name)) {
        any_ignored = true;
      } else {
        return fail(errc::unknown_coding);
      }
      if (codings.size() > kCodingsMax) return fail(errc::unknown_coding);
    }
  }
  // Chromium then decodes nothing, Firefox the codings that it knows.
  if (any_ignored && !codings.empty()) return fail(errc::unknown_coding);
  return codings;
}

Decoder::Decoder(std::span<const Coding> codings, DecodeLimits limits, GzipTrailer trailer) {
  for (Coding const coding : std::views::reverse(codings)) {
    stages_.push_back(decoder_of(coding, limits, trailer));
  }
  between_.resize(stages_.size());
}
Decoder::Decoder(Decoder&&) noexcept = default;
Decoder::~Decoder() = default;

Result<void> Decoder::write(std::span<const std::byte> coded, Buffer& plain) {
  if (stages_.empty()) {
    plain.insert(plain.end(), coded.begin(), coded.end());
    return {};
  }
  body_bytes_ += coded.size();
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    bool const last = i + 1 == stages_.size();
    if (!last) between_[i].clear();
    Buffer& out = last ? plain : between_[i];
    stages_[i]->body_has(body_bytes_);
    if (auto const done = stages_[i]->write(coded, out); !done) return done;
    coded = out;
  }
  return {};
}

Result<void> Decoder::finish() {
  for (const auto& stage : stages_) {
    if (auto const done = stage->finish(); !done) return done;
  }
  return {};
}

std::vector<Coding> Decoder::codings() const {
  std::vector<Coding> result;
  for (const auto& stage : std::views::reverse(stages_)) result.push_back(stage->coding());
  return result;
}

Effort default_effort(Coding coding) {
  if (coding == Coding::kBrotli) return 5;
  return coding == Coding::kZstd ? 3 : 6;
}

Encoder::Encoder(std::span<const Coding> codings, Effort effort) {
  for (Coding const coding : codings) {
    stages_.push_back(encoder_of(coding, stages_.empty() ? effort : default_effort(coding)));
  }
  between_.resize(stages_.size());
}
Encoder::Encoder(Encoder&&) noexcept = default;
Encoder::~Encoder() = default;

void Encoder::write(std::span<const std::byte> plain, Until until, Buffer& coded) {
  if (stages_.empty()) {
    coded.insert(coded.end(), plain.begin(), plain.end());
    return;
  }
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    bool const last = i + 1 == stages_.size();
    if (!last) between_[i].clear();
    Buffer& out = last ? coded : between_[i];
    stages_[i]->write(plain, until, out);
    plain = out;
  }
}

}  // namespace reprise::coding
