#include "pageload/browser/console_text.h"

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include "base/text/json_fields.h"

namespace json = boost::json;

namespace reprise {
namespace {

/// A Runtime.RemoteObject as the console shows it, on one line.
std::string shown(const json::object& object) {
  if (auto const* value = object.if_contains("value")) {
    if (value->is_string()) return std::string(value->get_string());
    return json::serialize(*value);
  }
  for (auto const name : {"unserializableValue", "description", "type"}) {
    if (auto const text = text_at(object, name); !text.empty()) return std::string(text);
  }
  return {};
}

std::string with_place(std::string text, std::string_view url, const json::object& object) {
  if (url.empty()) return text;
  text += " (" + std::string(url);
  if (object.contains("lineNumber")) {
    text += ":" + std::to_string(integer_at(object, "lineNumber") + 1);
  }
  return text + ")";
}

}  // namespace

std::optional<std::string> console_error_of(std::string_view method, const json::object& params) {
  if (method == "Runtime.consoleAPICalled") {
    auto const type = text_at(params, "type");
    if (type != "error" && type != "assert") return std::nullopt;
    std::string text;
    for (json::value const& argument : array_at(params, "args")) {
      if (!text.empty()) text += ' ';
      if (auto const* object = argument.if_object()) text += shown(*object);
    }
    return text;
  }
  if (method == "Runtime.exceptionThrown") {
    auto const& details = object_at(params, "exceptionDetails");
    std::string text(text_at(details, "text"));
    if (auto const what = shown(object_at(details, "exception")); !what.empty()) {
      text += ' ' + what;
    }
    return with_place(std::move(text), text_at(details, "url"), details);
  }
  if (method == "Log.entryAdded") {
    auto const& entry = object_at(params, "entry");
    if (text_at(entry, "level") != "error") return std::nullopt;
    return with_place(std::string(text_at(entry, "text")), text_at(entry, "url"), entry);
  }
  return std::nullopt;
}

}  // namespace reprise
