#pragma once

// Reads JSON that may be anybody's into fields of a struct, and names what is wrong with it.

#include <boost/json/object.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace reprise {

/// The fields of one object. What is missing or null has a default; the first field that is of
/// another type, or beyond its limit, is remembered as a sentence ("loads[3].url must be a text"),
/// and has a default, too. Borrows the object and the sentence.
class Fields {
 public:
  /// A number that a load can have: a year in ms, a petabyte.
  static constexpr double kNumberMax = 1e15;
  /// Of texts, numbers or objects in one array, where nothing less is asked for.
  static constexpr std::size_t kListMax = 1'000'000;

  Fields(const boost::json::object& object, std::string place, std::string& error)
      : object_(object), place_(std::move(place)), error_(error) {}

  std::string text(std::string_view name);
  /// The same, but none when it is missing or null.
  std::optional<std::string> text_if_any(std::string_view name);
  std::vector<std::string> texts(std::string_view name);
  bool flag(std::string_view name);
  /// From 0 to kNumberMax.
  std::optional<double> number(std::string_view name);
  /// From -kNumberMax to kNumberMax; 0 when it is missing.
  double signed_number(std::string_view name);
  /// A number, where a negative one stands for none: -1.
  double time(std::string_view name);
  /// A whole number from 0; negative ones become `missing`.
  std::int64_t integer(std::string_view name, std::int64_t missing = 0);
  /// Of all 64 bits; 0 when it is no such number.
  std::uint64_t whole(std::string_view name);
  /// What is null among them is 0.
  std::vector<double> numbers(std::string_view name);

  bool has(std::string_view name) const { return find(name) != nullptr; }
  /// Of an object; what is missing has no fields.
  Fields into(std::string_view name);
  /// The objects of an array, each with `use(Fields)`, until one is wrong.
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
  /// Null when it is missing or null.
  const boost::json::value* find(std::string_view name) const;
  /// A number of any size; none when it is missing or wrong.
  std::optional<double> any_number(std::string_view name);
  const boost::json::array& array(std::string_view name, std::size_t most);

  const boost::json::object& object_;
  std::string place_;
  std::string& error_;
};

}  // namespace reprise
