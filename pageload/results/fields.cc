#include "pageload/results/fields.h"

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <cmath>

namespace json = boost::json;

namespace reprise {

std::expected<json::object, std::string> parse_object(std::string_view text,
                                                      std::size_t mebibytes) {
  if (text.size() > mebibytes << 20) {
    return std::unexpected("it is larger than " + std::to_string(mebibytes) + " MiB");
  }
  boost::system::error_code error;
  auto value = json::parse(text, error);
  if (error) return std::unexpected("not JSON: " + error.message());
  if (!value.is_object()) return std::unexpected("not a JSON object");
  return std::move(value.get_object());
}

std::string Fields::text(std::string_view name) {
  return text_if_any(name).value_or("");
}

std::optional<std::string> Fields::text_if_any(std::string_view name) {
  auto const* const value = find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) return wrong(name, "must be a text"), std::nullopt;
  return std::string(value->get_string());
}

std::vector<std::string> Fields::texts(std::string_view name) {
  std::vector<std::string> out;
  for (const json::value& each : array(name, kListMax)) {
    if (!each.is_string()) return wrong(name, "must be texts"), out;
    out.emplace_back(each.get_string());
  }
  return out;
}

bool Fields::flag(std::string_view name) {
  auto const* const value = find(name);
  if (value == nullptr) return false;
  if (!value->is_bool()) wrong(name, "must be true or false");
  return value->is_bool() && value->get_bool();
}

std::optional<double> Fields::any_number(std::string_view name) {
  auto const* const value = find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_number()) return wrong(name, "must be a number or null"), std::nullopt;
  return value->to_number<double>();
}

std::optional<double> Fields::number(std::string_view name) {
  auto const number = any_number(name);
  if (!number || (*number >= 0 && *number <= kNumberMax)) return number;
  return wrong(name, "must be from 0 to 1e15"), std::nullopt;
}

double Fields::time(std::string_view name) {
  auto const number = any_number(name);
  if (!number || *number < 0) return -1;
  if (*number <= kNumberMax) return *number;
  return wrong(name, "must not be over 1e15"), -1;
}

std::int64_t Fields::integer(std::string_view name, std::int64_t missing) {
  double const number = time(name);
  return number < 0 ? missing : static_cast<std::int64_t>(number);
}

double Fields::signed_number(std::string_view name) {
  auto const number = any_number(name);
  if (!number) return 0;
  if (*number >= -kNumberMax && *number <= kNumberMax) return *number;
  return wrong(name, "is out of range"), 0;
}

std::uint64_t Fields::whole(std::string_view name) {
  auto const* const value = find(name);
  if (value == nullptr) return 0;
  boost::system::error_code inexact;
  auto const number = value->to_number<std::uint64_t>(inexact);
  if (inexact) return wrong(name, "must be a whole number"), 0;
  return number;
}

std::vector<double> Fields::numbers(std::string_view name) {
  std::vector<double> out;
  for (const json::value& each : array(name, kListMax)) {
    if (!each.is_number() && !each.is_null()) return wrong(name, "must be numbers"), out;
    out.push_back(each.is_null() ? 0 : each.to_number<double>());
    if (std::abs(out.back()) > kNumberMax) return wrong(name, "has a number over 1e15"), out;
  }
  return out;
}

Fields Fields::into(std::string_view name) {
  static const json::object kNone;
  auto const* const value = find(name);
  if (value != nullptr && !value->is_object()) wrong(name, "must be an object");
  bool const is_there = value != nullptr && value->is_object();
  return {is_there ? value->get_object() : kNone, place_ + std::string(name) + ".", error_};
}

void Fields::wrong(std::string_view name, std::string_view what) {
  if (error_.empty()) error_ = place_ + std::string(name) + " " + std::string(what);
}

const json::value* Fields::find(std::string_view name) const {
  auto const* const value = object_.if_contains(name);
  return value == nullptr || value->is_null() ? nullptr : value;
}

const json::array& Fields::array(std::string_view name, std::size_t most) {
  static const json::array kNone;
  auto const* const value = find(name);
  if (value == nullptr) return kNone;
  if (!value->is_array()) return wrong(name, "must be an array"), kNone;
  if (value->get_array().size() <= most) return value->get_array();
  return wrong(name, "must not have more than " + std::to_string(most) + " elements"), kNone;
}

}  // namespace reprise
