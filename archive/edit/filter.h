#pragma once

// Which exchanges a user means: the language of `ls`, `trim`, `merge --only`, `diff` and `redact`.
// Grammar and fields: FILTER.md. Pure; a filter is immutable and thread-safe.

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "archive/exchange.h"

namespace reprise {

/// Why a text is no filter.
struct FilterFault {
  std::size_t position = 0;  ///< in bytes, where in the text
  std::string what;
};

/// The fault, below it the text, below that a caret at the position.
std::string caret_text(std::string_view filter, const FilterFault& fault);

/// What can be asked of an exchange.
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

/// One of the values that a condition allows.
struct FilterValue {
  std::string text;      ///< a glob; of numbers not used
  std::int64_t low = 0;  ///< of numbers, both included
  std::int64_t high = 0;
};

class Filter {
 public:
  static constexpr std::size_t kTextBytesMax = 64 << 10;
  static constexpr std::size_t kDepthMax = 64;

  /// A filter that takes everything, as does the empty text.
  Filter() = default;
  /// A text over kTextBytesMax, or with more than kDepthMax parentheses and nots inside each other,
  /// is at fault, too.
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
