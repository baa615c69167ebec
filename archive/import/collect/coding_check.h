#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/coding/coding.h"

namespace reprise::importing {

/// What a body turned out to be, beside the Content-Encoding that its head declares.
enum class CodingVerdict : std::uint8_t {
  kNone,      ///< nothing declared, or nothing that is known here
  kDecodes,   ///< as declared (up to CodingCheck::kDecodedBytesMax)
  kNotCoded,  ///< not one byte of it is: the tool, or the origin, left a header that is not true
  kBroken,    ///< begins as declared, then breaks or ends too early
};

/// Decodes a body that comes in pieces, and keeps nothing of it. Bounded memory; gives up, content,
/// after kDecodedBytesMax.
class CodingCheck {
 public:
  static constexpr std::uint64_t kDecodedBytesMax = 256 << 20;

  /// `declared` is the value of Content-Encoding; of several codings the last is looked at.
  explicit CodingCheck(std::string_view declared);

  void append(std::string_view bytes);
  /// An empty body is of any coding.
  CodingVerdict finish();

 private:
  enum class State : std::uint8_t { kGoingOn, kFailed, kLongEnough };
  void decode(Bytes bytes);
  bool decode_held();

  std::optional<coding::Decoder> decoder_;
  coding::Buffer plain_;  // of one step
  bool holds_ = false;    // gzip, as long as it is small: it is decoded in one go
  std::vector<std::byte> held_;
  State state_ = State::kGoingOn;
  std::uint64_t taken_bytes_ = 0;
  std::uint64_t decoded_bytes_ = 0;
};

}  // namespace reprise::importing
