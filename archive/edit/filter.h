#pragma once

// Selects exchanges: the language of `ls`, `trim`, `merge --only`, `diff` and `redact`.
// Grammar and fields: FILTER.md. Pure; a filter is immutable and thread-safe.

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "archive/exchange.h"

namespace reprise {

/// An error in a filter's text.
struct FilterFault {
  std::size_t position = 0;  ///< offset in the text, in bytes
  std::string what;
};

/// Three lines: the error, the text, and a caret at the position.
std::string caret_text(std::string_view filter, const FilterFault& fault);

/// The fields of an exchange that a filter can test.
enum class FilterField : std::uint8_t {
  kHost,
  kPath,
  kQuery,
  kUrl,
  kMethod,
  kScheme,
  kType,
  kProtocol,
  kOutcome,
  kHeader,  ///< of the response, "name" or "name: value"
  kStatus,
  kTime,  ///< in ns
  kSize,
  kSession,
  kNumber,
};

/// One of the values in a condition.
struct FilterValue {
  std::string text;      ///< a glob; not used for numbers
  std::int64_t low = 0;  ///< for numbers, both inclusive
  std::int64_t high = 0;
};

class Filter {
 public:
  static constexpr std::size_t kTextBytesMax = 64 << 10;
  static constexpr std::size_t kDepthMax = 64;

  /// A filter that matches everything, like the empty text.
  Filter() = default;
  /// Errors include a text longer than kTextBytesMax, or more than kDepthMax nested parentheses and
  /// nots.
  static std::expected<Filter, FilterFault> parse(std::string_view text);

  /// `number` is that of `ls`, from 1.
  bool takes(const Exchange& exchange, std::size_t number) const {
    return root_.takes(exchange, number);
  }

 private:
  friend class FilterParser;
  enum class Kind : std::uint8_t { kAll, kAny, kNot, kCondition };
  struct Node {
    Kind kind = Kind::kAll;
    std::vector<Node> parts;
    FilterField field{};
    std::vector<FilterValue> values;
    bool takes(const Exchange& exchange, std::size_t number) const;
  };
  Node root_;
};

}  // namespace reprise
