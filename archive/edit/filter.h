#pragma once

// The filter language: selects exchanges (`ls`, `trim`, `merge --only`, `diff`, `redact`), calls
// and views (`explain`). Grammar and fields: FILTER.md. Pure; a filter is immutable and
// thread-safe.

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
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

/// All fields that a filter can test. Those from kStatus on are numbers.
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
  kKind,    ///< of a call, like those up to kService
  kName,
  kResource,
  kPhase,
  kParty,
  kEntity,
  kCategory,
  kCdn,
  kInitiator,
  kService,
  kTag,  ///< of a view, by its name
  kStatus,
  kTime,  ///< in ns
  kSize,
  kSession,
  kNumber,
  kLoad,  ///< of a view, in ns
};

/// The fields that one kind of thing has. Their names are those of the enumerators, in lower case.
struct FilterVocabulary {
  std::span<const FilterField> fields;
  bool tags = false;  ///< a name that is no field is the name of a tag
};
const FilterVocabulary& exchange_vocabulary();

/// What a filter is asked about. A field of another vocabulary is empty or unknown.
class FilterSubject {
 public:
  virtual ~FilterSubject() = default;
  /// The value of a text field: hosts, methods, schemes, kinds and other words in lower case; a
  /// type is a media type without parameters, a protocol as in `HTTP/1.1` but in lower case, a URL
  /// as a whole. `tag` is the name for kTag. The result can be a view of `buffer`.
  virtual std::string_view text(FilterField field, std::string_view tag,
                                std::string& buffer) const = 0;
  /// The value of a number field; nothing if it is unknown. A status of 0 is `none`.
  virtual std::optional<std::int64_t> number(FilterField field) const = 0;
  /// Of the response; not of a call.
  virtual HeaderList headers() const { return {}; }
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
  static std::expected<Filter, FilterFault> parse(
      std::string_view text, const FilterVocabulary& vocabulary = exchange_vocabulary());

  bool takes(const FilterSubject& subject) const { return root_.takes(subject); }
  /// `number` is that of `ls`, from 1.
  bool takes(const Exchange& exchange, std::size_t number) const;
  /// Whether any of its conditions tests this field.
  bool tests(FilterField field) const { return root_.tests(field); }

 private:
  friend class FilterParser;
  enum class Kind : std::uint8_t { kAll, kAny, kNot, kCondition };
  struct Node {
    Kind kind = Kind::kAll;
    std::vector<Node> parts;
    FilterField field{};
    std::string tag;  ///< its name, for FilterField::kTag
    std::vector<FilterValue> values;
    bool takes(const FilterSubject& subject) const;
    bool tests(FilterField tested) const;
  };
  Node root_;
};

}  // namespace reprise
