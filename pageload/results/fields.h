#pragma once

// Reads untrusted JSON into fields of a struct, and reports its errors.

#include <boost/json/object.hpp>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace reprise {

/// A JSON object in `text` of at most `mebibytes`. Errors: a sentence.
std::expected<boost::json::object, std::string> parse_object(std::string_view text,
                                                             std::size_t mebibytes);

/// The fields of one object. A missing or null field has its default. A field of the wrong type, or
/// beyond its limit, has its default, too; the first one is reported as a sentence ("loads[3].url
/// must be a text"). Borrows the object and the sentence.
class Fields {
 public:
  /// The limit of numbers in a load: over 30,000 years in ms, a petabyte.
  static constexpr double kNumberMax = 1e15;
  /// The default limit for arrays of texts, numbers or objects.
  static constexpr std::size_t kListMax = 1'000'000;

  Fields(const boost::json::object& object, std::string place, std::string& error)
      : object_(object), place_(std::move(place)), error_(error) {}

  std::string text(std::string_view name);
  /// The same, but nothing if it is missing or null.
  std::optional<std::string> text_if_any(std::string_view name);
  std::vector<std::string> texts(std::string_view name);
  bool flag(std::string_view name);
  /// From 0 to kNumberMax.
  std::optional<double> number(std::string_view name);
  /// From -kNumberMax to kNumberMax; 0 if missing.
  double signed_number(std::string_view name);
  /// A number; a missing or negative one is -1.
  double time(std::string_view name);
  /// A whole number from 0; negative ones become `missing`.
  std::int64_t integer(std::string_view name, std::int64_t missing = 0);
  /// With all 64 bits; 0 if it is not such a number.
  std::uint64_t whole(std::string_view name);
  /// From -kNumberMax to kNumberMax; null elements are 0.
  std::vector<double> numbers(std::string_view name);

  bool has(std::string_view name) const { return find(name) != nullptr; }
  /// Those of an object; a missing one has no fields.
  Fields into(std::string_view name);
  /// Calls `use(Fields)` for each object in an array, until an error.
  template <class Use>
  void each(std::string_view name, std::size_t most, const Use& use) {
    std::size_t index = 0;
    for (const boost::json::value& value : array(name, most)) {
      auto const at = std::string(name) + "[" + std::to_string(index++) + "]";
      if (!value.is_object()) return wrong(at, "must be an object");
      use(Fields(value.get_object(), place_ + at + ".", error_));
      if (!error_.empty()) return;
    }
  }

  const boost::json::object& object() const { return object_; }
  void wrong(std::string_view name, std::string_view what);

 private:
  /// Null if it is missing or null.
  const boost::json::value* find(std::string_view name) const;
  /// A number of any size; nothing if it is missing or invalid.
  std::optional<double> any_number(std::string_view name);
  const boost::json::array& array(std::string_view name, std::size_t most);

  const boost::json::object& object_;
  std::string place_;
  std::string& error_;
};

}  // namespace reprise
