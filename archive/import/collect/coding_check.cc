#include "archive/import/collect/coding_check.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "base/coding/error.h"
#include "base/coding/inflation.h"
#include "base/http/headers.h"
#include "base/text/white_space.h"

namespace reprise::importing {
namespace {

/// Small steps, because the output of a step is held.
constexpr std::size_t kStepBytes = 4 << 10;
/// Gzip bodies up to this size are held and decoded in one go, which is twice as fast.
constexpr std::size_t kHeldBytesMax = 1 << 20;
constexpr std::size_t kPlainBytesMax = 4 << 20;

/// RFC 9842, 4 and 5: a number, then the digest of the dictionary. Empty for other codings.
std::string_view magic_of(std::string_view coding) {
  using namespace std::string_view_literals;
  if (equals_ignoring_case(coding, "dcb")) return "\xff\x44\x43\x42"sv;
  if (equals_ignoring_case(coding, "dcz")) return "\x5e\x2a\x4d\x18\x20\x00\x00\x00"sv;
  return {};
}

}  // namespace

CodingCheck::CodingCheck(std::string_view declared) {
  HeaderView const last{.name = "Content-Encoding",
                        .value = trim(declared.substr(declared.rfind(',') + 1))};
  magic_ = magic_of(last.value);
  auto const codings = coding::codings_of({&last, 1});
  if (!codings || codings->size() != 1) return;
  decoder_.emplace(*codings,
                   coding::DecodeLimits{.bytes_max = kDecodedBytesMax,
                                        .ratio_max = std::numeric_limits<std::size_t>::max()},
                   coding::GzipTrailer::kChecked);
  holds_ = codings->front() == coding::Coding::kGzip;
  is_marked_ = holds_ || codings->front() == coding::Coding::kZstd;
}

void CodingCheck::append(std::string_view text) {
  taken_bytes_ += text.size();
  begin_ += text.substr(0, magic_.size() - begin_.size());
  if (!decoder_) return;
  auto const bytes = bytes_of(text);
  if (holds_ && held_.size() + bytes.size() <= kHeldBytesMax) {
    held_.insert(held_.end(), bytes.begin(), bytes.end());
    return;
  }
  if (std::exchange(holds_, false)) decode(std::exchange(held_, {}));
  decode(bytes);
}

void CodingCheck::decode(Bytes bytes) {
  while (!bytes.empty() && state_ == State::kGoingOn) {
    auto const piece = bytes.first(std::min(bytes.size(), kStepBytes));
    bytes = bytes.subspan(piece.size());
    plain_.clear();
    auto const done = decoder_->write(piece, plain_);
    decoded_bytes_ += plain_.size();
    if (done) continue;
    state_ = done.error() == coding::errc::too_large ? State::kLongEnough : State::kFailed;
  }
}

/// Whether the held bytes are exactly one complete member.
bool CodingCheck::decode_held() {
  auto const plain = std::make_unique_for_overwrite<std::byte[]>(kPlainBytesMax);
  auto const sizes = coding::WholeGunzip().decode(held_, {plain.get(), kPlainBytesMax});
  return sizes && sizes->taken == held_.size();
}

/// Whether what decodes is only the beginning of plain text. Bytes after the end of a coded body
/// are ignored, and ";(function" begins with an empty brotli stream. A coded body is longer than
/// its content only if it was flushed every few bytes.
bool CodingCheck::ends_too_early() const {
  constexpr std::uint64_t kGrowthMax = 8;
  return !is_marked_ && taken_bytes_ > kChanceBytesMax + kGrowthMax * decoded_bytes_;
}

CodingVerdict CodingCheck::finish() {
  if (taken_bytes_ > 0 && begin_ != magic_) return CodingVerdict::kNotCoded;
  if (!decoder_) return CodingVerdict::kNone;
  if (taken_bytes_ == 0 || (holds_ && decode_held())) return CodingVerdict::kDecodes;
  if (std::exchange(holds_, false)) decode(held_);
  if (state_ == State::kLongEnough) return CodingVerdict::kDecodes;
  if (state_ == State::kGoingOn && decoder_->finish()) {
    return ends_too_early() ? CodingVerdict::kNotCoded : CodingVerdict::kDecodes;
  }
  auto const nothing_came = state_ == State::kFailed && decoded_bytes_ == 0;
  return nothing_came ? CodingVerdict::kNotCoded : CodingVerdict::kBroken;
}

}  // namespace reprise::importing
