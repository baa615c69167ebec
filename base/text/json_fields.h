#pragma once

// Reads JSON from other programs: a member that is missing or has another type has a default.

#include <boost/json/object.hpp>
#include <cstdint>
#include <string_view>

namespace reprise {

/// The text at `name`; empty if missing. Valid as long as `object` is unchanged.
std::string_view text_at(const boost::json::object& object, std::string_view name);
/// The number at `name`, of any JSON number kind.
double number_at(const boost::json::object& object, std::string_view name, double missing = 0);
/// The same as an integer, cut to the range of int64.
std::int64_t integer_at(const boost::json::object& object, std::string_view name);
bool flag_at(const boost::json::object& object, std::string_view name);
/// The object at `name`; an empty one if missing.
const boost::json::object& object_at(const boost::json::object& object, std::string_view name);
/// The array at `name`; an empty one if missing.
const boost::json::array& array_at(const boost::json::object& object, std::string_view name);

}  // namespace reprise
