#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace reprise::dns {

/// A domain name (RFC 1035 section 3.1): labels of 1 to 63 bytes, at most 255 bytes on the wire. A
/// label can contain any byte; case is kept. A value.
class Name {
 public:
  static constexpr std::size_t kLabelMax = 63;
  static constexpr std::size_t kWireMax = 255;  ///< with the root's zero

  /// The root.
  Name() = default;

  /// Parses "www.example.org", with or without a final dot; "." is the root. `\.`, `\\` and
  /// `\DDD` (decimal) are escaped bytes (RFC 1035 section 5.1). Errors: bad_name.
  static Result<Name> parse(std::string_view text);

  /// Adds a label at the end. Returns false and adds nothing beyond the limits.
  [[nodiscard]] bool append(std::string_view label);

  /// The labels as on the wire, each after its length, without the root's zero.
  std::string_view labels() const { return labels_; }

  /// The text that parse() reads, without a final dot; "." for the root.
  std::string text() const;

  /// In lower case (ASCII): the form for comparisons (RFC 4343).
  Name lowered() const;

  /// Compares exact bytes, including case.
  bool operator==(const Name&) const = default;

 private:
  std::string labels_;
};

}  // namespace reprise::dns
