#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace reprise::dns {

/// A domain name (RFC 1035 section 3.1): labels of 1 to 63 bytes, 255 bytes in all as on the wire.
/// Any byte may stand in a label; case is kept. A value.
class Name {
 public:
  static constexpr std::size_t kLabelMax = 63;
  static constexpr std::size_t kWireMax = 255;  ///< with the root's zero

  /// The root.
  Name() = default;

  /// Reads "www.example.org", with or without a dot at its end; "." is the root. `\.`, `\\` and
  /// `\DDD` (decimal) stand for bytes (RFC 1035 section 5.1). Errors: bad_name.
  static Result<Name> parse(std::string_view text);

  /// Adds a label behind the last one. False, and nothing added, when a limit does not allow it.
  [[nodiscard]] bool append(std::string_view label);

  /// The labels as on the wire, each behind its length, without the root's zero.
  std::string_view labels() const { return labels_; }

  /// As parse() reads it, without a dot at the end; "." for the root.
  std::string text() const;

  /// In lower case (ASCII): what names are compared by (RFC 4343).
  Name lowered() const;

  /// Exactly the same bytes, case included.
  bool operator==(const Name&) const = default;

 private:
  std::string labels_;
};

inline char lower(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

}  // namespace reprise::dns
