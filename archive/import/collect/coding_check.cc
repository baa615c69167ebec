#include "archive/import/collect/coding_check.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "base/coding/error.h"
#include "base/coding/inflation.h"
#include "base/text/white_space.h"

namespace reprise::importing {
namespace {

/// Small steps, because the output of a step is held.
constexpr std::size_t kStepBytes = 4 << 10;
/// Gzip bodies up to this size are held and decoded in one go, which is twice as fast.
constexpr std::size_t kHeldBytesMax = 1 << 20;
constexpr std::size_t kPlainBytesMax = 4 << 20;

}  // namespace

CodingCheck::CodingCheck(std::string_view declared) {
  HeaderView const last{.name = "Content-Encoding",
                        .value = trim(declared.substr(declared.rfind(',') + 1))};
  auto const codings = coding::codings_of({&last, 1});
  if (!codings || codings->size() != 1) return;
  decoder_.emplace(*codings,
                   coding::DecodeLimits{.bytes_max = kDecodedBytesMax,
                                        .ratio_max = std::numeric_limits<std::size_t>::max()});
  holds_ = codings->front() == coding::Coding::kGzip;
}

void CodingCheck::append(std::string_view text) {
  taken_bytes_ += text.size();
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

CodingVerdict CodingCheck::finish() {
  if (!decoder_) return CodingVerdict::kNone;
  if (taken_bytes_ == 0 || (holds_ && decode_held())) return CodingVerdict::kDecodes;
  if (std::exchange(holds_, false)) decode(held_);
  if (state_ == State::kLongEnough) return CodingVerdict::kDecodes;
  if (state_ == State::kGoingOn && decoder_->finish()) return CodingVerdict::kDecodes;
  auto const nothing_came = state_ == State::kFailed && decoded_bytes_ == 0;
  return nothing_came ? CodingVerdict::kNotCoded : CodingVerdict::kBroken;
}

}  // namespace reprise::importing
