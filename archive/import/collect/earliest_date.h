#pragma once

#include <cstdint>
#include <optional>

#include "archive/import/collect/http_text.h"

namespace reprise::importing {

/// When a recording began whose format has no times: when the first of its responses was sent, by
/// the Date and Age of each. Pure.
class EarliestDate {
 public:
  /// Takes the fields of a response. Ignored: a Date before 1995 or after 2100, since such a clock
  /// was wrong.
  void take(const Fields& fields);
  /// Nanoseconds since 1970; nothing if no response had a Date.
  std::optional<std::int64_t> get() const { return earliest_; }

 private:
  std::optional<std::int64_t> earliest_;
};

}  // namespace reprise::importing
