#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/coding/coding.h"

namespace reprise::importing {

/// A body's real content coding, compared with the declared one.
enum class CodingVerdict : std::uint8_t {
  kNone,      ///< none declared, an unknown one, or one with a dictionary, which is not here
  kDecodes,   ///< as declared (up to CodingCheck::kDecodedBytesMax)
  kNotCoded,  ///< nothing of it is coded: the tool, or the origin, left a false header
  kBroken,    ///< begins as declared, then is invalid or too short
};

/// Decodes a body that arrives in pieces, and keeps nothing of it. Uses bounded memory; after
/// kDecodedBytesMax it stops and takes the rest as valid.
class CodingCheck {
 public:
  static constexpr std::uint64_t kDecodedBytesMax = 256 << 20;
  /// Up to this size, text is often valid brotli or deflate by chance: they have no magic number.
  static constexpr std::uint64_t kChanceBytesMax = 16;

  /// `declared`: the value of Content-Encoding; of several codings the last one is checked.
  explicit CodingCheck(std::string_view declared);

  void append(std::string_view bytes);
  /// An empty body is valid in any coding.
  CodingVerdict finish();

 private:
  enum class State : std::uint8_t { kGoingOn, kFailed, kLongEnough };
  void decode(Bytes bytes);
  bool decode_held();
  bool ends_too_early() const;

  std::string_view magic_;  // what a body coded with a dictionary begins with
  std::string begin_;       // of the body, as long as that
  std::optional<coding::Decoder> decoder_;
  coding::Buffer plain_;    // output of one step
  bool is_marked_ = false;  // the coding has a magic number
  bool holds_ = false;      // gzip, while it is small: decoded in one go
  std::vector<std::byte> held_;
  State state_ = State::kGoingOn;
  std::uint64_t taken_bytes_ = 0;
  std::uint64_t decoded_bytes_ = 0;
};

}  // namespace reprise::importing
