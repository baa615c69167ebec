#pragma once

// What is to be hidden, and what stands in its place. Pure: the chance that makes it irreversible
// is an argument.

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
#include <vector>

#include "base/result.h"

namespace reprise {

/// Secrets and their stand-ins. The stand-in of a secret is the same everywhere and depends on the
/// key alone, which is random and thrown away: it tells length and kinds of characters (letters
/// stay letters of the same case, digits digits, punctuation stays), nothing else. So sizes stay,
/// and so does what a script does that takes a value apart. `%41` and `A` are the same; what is not
/// ASCII becomes letters.
class Secrets {
 public:
  using Key = std::array<std::byte, 32>;
  static constexpr std::size_t kBytesMax = 64 << 20;  ///< of all secrets and their names
  /// Shorter ones are not looked for in other places: they would be found by chance.
  static constexpr std::size_t kSearchedBytesMin = 8;

  /// How often what was hidden, for people: by name, never a value.
  struct Count {
    std::size_t values = 0;       ///< distinct ones
    std::uint64_t places = 0;     ///< where they were known to be
    std::uint64_t elsewhere = 0;  ///< and where they were found besides
  };

  explicit Secrets(const Key& key) : key_(key) {}

  /// Adds a value as it stands somewhere, percent-encoded or not. `name` is what is told of it.
  /// `searched`: it is worth looking for in other places. Errors: too_large.
  Result<void> add(std::string_view value, const std::string& name, bool searched);

  /// The stand-in of a value that was added, encoded as `value` is; counts a place.
  std::string hide(std::string_view value, const std::string& name);

  /// `text` with all that is searched replaced where it occurs as it was seen, decoded or
  /// percent-encoded. Of two that overlap the first counts, of two at one place the longest.
  /// True when something was.
  bool hide_all(std::string& text);

  const std::map<std::string, Count>& counts() const { return counts_; }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  template <class T>
  using Table = std::unordered_map<std::string, T, Hash, std::equal_to<>>;

  std::string stand_in_of(std::string_view plain) const;
  std::string dressed(std::string_view value) const;
  void search_for(std::string_view form, const std::string& name);

  Key key_;
  std::size_t bytes_ = 0;
  Table<std::string> names_;  ///< of each secret, decoded, what it was first called
  Table<std::string> forms_;  ///< what is searched, and the name
  /// The lengths of the forms that begin with these bytes, the longest first.
  std::unordered_map<std::uint64_t, std::set<std::size_t, std::greater<>>> beginnings_;
  /// Which two bytes any form begins with: most places of a body end here.
  std::bitset<65'536> first_bytes_;
  std::map<std::string, Count> counts_;
};

}  // namespace reprise
