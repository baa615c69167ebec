#include "base/text/json_fields.h"

#include <boost/json/array.hpp>
#include <limits>

namespace json = boost::json;

namespace reprise {

std::string_view text_at(const json::object& object, std::string_view name) {
  auto const* value = object.if_contains(name);
  auto const* text = value == nullptr ? nullptr : value->if_string();
  return text == nullptr ? std::string_view() : std::string_view(text->data(), text->size());
}

double number_at(const json::object& object, std::string_view name, double missing) {
  auto const* value = object.if_contains(name);
  if (value == nullptr) return missing;
  if (value->is_double()) return value->get_double();
  if (value->is_int64()) return static_cast<double>(value->get_int64());
  if (value->is_uint64()) return static_cast<double>(value->get_uint64());
  return missing;
}

std::int64_t integer_at(const json::object& object, std::string_view name) {
  constexpr double kEdge = 9.2e18;
  double const number = number_at(object, name);
  if (number >= kEdge) return std::numeric_limits<std::int64_t>::max();
  if (number <= -kEdge) return std::numeric_limits<std::int64_t>::min();
  return static_cast<std::int64_t>(number);
}

bool flag_at(const json::object& object, std::string_view name) {
  auto const* value = object.if_contains(name);
  return value != nullptr && value->is_bool() && value->get_bool();
}

const json::object& object_at(const json::object& object, std::string_view name) {
  static const json::object kNone;
  auto const* value = object.if_contains(name);
  auto const* found = value == nullptr ? nullptr : value->if_object();
  return found == nullptr ? kNone : *found;
}

const json::array& array_at(const json::object& object, std::string_view name) {
  static const json::array kNone;
  auto const* value = object.if_contains(name);
  auto const* found = value == nullptr ? nullptr : value->if_array();
  return found == nullptr ? kNone : *found;
}

}  // namespace reprise
