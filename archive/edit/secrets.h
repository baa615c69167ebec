#pragma once

// Secrets and their replacements. Pure: the random key that makes them irreversible is an argument.

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"

namespace reprise {

/// Whether to search for a secret elsewhere.
enum class Searched : std::uint8_t {
  kNo,
  kYes,
  kPlusAsSpaceToo,  ///< also with a space for each `+`: a value of a query or an encoded form
};

/// Secrets and their stand-ins. The stand-in of a secret is the same everywhere and depends only on
/// the key, which is random and discarded: it reveals length and kinds of characters (letters stay
/// letters of the same case, digits digits, punctuation stays), nothing else. So sizes do not
/// change, and scripts that parse a value still work. `%41` and `A` are the same; non-ASCII
/// characters become letters. With `+` and with a space, a secret gets the same letters and digits.
class Secrets {
 public:
  using Key = std::array<std::byte, 32>;
  static constexpr std::size_t kBytesMax = 64 << 20;  ///< of all secrets, in all their spellings
  /// Shorter ones are not searched for elsewhere: they would be found by chance.
  static constexpr std::size_t kSearchedBytesMin = 8;

  /// How often secrets were replaced, for users: by name, never a value.
  struct Count {
    std::size_t values = 0;       ///< distinct ones
    std::uint64_t places = 0;     ///< at their known places
    std::uint64_t elsewhere = 0;  ///< at other places
  };

  explicit Secrets(const Key& key) : key_(key) {}
  /// The stand-in of every secret is `mark`, which is not empty.
  explicit Secrets(std::string mark) : mark_(std::move(mark)) {}

  /// Adds a value as written, percent-encoded or not. `name` is used in reports. Errors: too_large.
  Result<void> add(std::string_view value, const std::string& name, Searched searched);

  /// The stand-in of an added value, encoded like `value`; counts a place.
  std::string hide(std::string_view value, const std::string& name);

  /// Replaces all searched secrets in `text`, as they were added, decoded, or in a usual spelling
  /// of URLs, forms, JSON and HTML (kPlusAsSpaceToo: with spaces, too); an escape of a character
  /// that stays is kept. Of two that overlap the first counts, of two at one place the longest.
  /// True if anything was replaced.
  bool hide_all(std::string& text);

  const std::map<std::string, Count>& counts() const { return counts_; }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  /// A secret, decoded, or the same with spaces for `+`.
  struct Known {
    bool counted = false;
    bool searched = false;
  };
  /// A secret as it may be written somewhere.
  struct Form {
    std::string name;
    std::string stand_in;  ///< empty if all stand-ins are mark_
  };
  template <class T>
  using Table = std::unordered_map<std::string, T, Hash, std::equal_to<>>;

  std::string stand_in_of(std::string_view plain) const;
  std::string dressed(std::string_view value) const;
  void search_for(std::string_view form, std::string stand_in, const std::string& name);
  /// Once for each `plain`.
  void search_for_spellings(const std::string& plain, const std::string& name);

  Key key_{};
  std::string mark_;  ///< empty: stand-ins depend on the key
  std::size_t bytes_ = 0;
  Table<Known> plains_;
  Table<Form> forms_;  ///< what is searched for
  /// The lengths of the forms that begin with these bytes, the longest first.
  std::unordered_map<std::uint64_t, std::set<std::size_t, std::greater<>>> beginnings_;
  /// The first two bytes of all forms: the search ends here for most places of a body.
  std::bitset<65'536> first_bytes_;
  std::map<std::string, Count> counts_;
};

}  // namespace reprise
