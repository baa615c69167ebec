#pragma once

// Kinds: what the time of a call goes to, in the words of someone who can act on it ("ads",
// "server", "connection"). Rules assign them. Format and defaults: KINDS.md. Pure.

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/calls/call.h"
#include "analysis/contribution/entities.h"
#include "archive/edit/filter.h"

namespace reprise {

struct Kind {
  std::string name;
  std::string fix;  ///< how to get the time back, one sentence
};

/// Rules for calls, the first that fits counts. Immutable, thread-safe.
class KindRules {
 public:
  static constexpr std::size_t kTextBytesMax = 1 << 20;
  static constexpr std::size_t kKindsMax = 64;

  /// Errors: a sentence with the line's number, of several lines if a filter is wrong.
  static std::expected<KindRules, std::string> parse(std::string_view text);
  /// Those of KINDS.md.
  static const KindRules& standard();

  /// In the order in which the rules name them; then that of gaps, and `other`, if no rule names
  /// them.
  const std::vector<Kind>& kinds() const { return kinds_; }
  /// Of the time without any call.
  std::uint8_t gap_kind() const { return gap_kind_; }

  /// Whether a rule depends on this field of calls.
  bool test(FilterField field) const;

  /// Of each call, as a place in kinds(). `tree` is normalized.
  std::vector<std::uint8_t> classify(const CallTree& tree, const Entities& entities) const;

 private:
  struct Rule {
    std::uint8_t kind = 0;
    Filter filter;
  };
  static constexpr std::uint8_t kUnset = 255;

  std::uint8_t kind_called(std::string_view name);
  bool has_room_for(std::string_view name) const;
  std::string add_line(std::string_view line);

  std::vector<Kind> kinds_;
  std::vector<Rule> rules_;
  std::uint8_t gap_kind_ = 0;
  std::uint8_t other_kind_ = 0;
};

/// The fields of calls in filters (archive/edit/FILTER.md).
const FilterVocabulary& call_vocabulary();

/// The names of all default rules' file.
extern const std::string_view kStandardKinds;

}  // namespace reprise
