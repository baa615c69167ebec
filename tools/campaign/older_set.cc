#include "tools/campaign/older_set.h"

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>

#include "analysis/campaign/file_name.h"
#include "base/text/json_fields.h"

namespace reprise {
namespace {

namespace json = boost::json;

json::object object_of(const std::string& text) {
  boost::system::error_code malformed;
  auto const value = json::parse(text, malformed);
  return value.is_object() ? value.get_object() : json::object();
}

}  // namespace

OlderSet::OlderSet(const std::filesystem::path& path) : file_(path, std::ios::binary) {
  std::string line;
  if (std::getline(file_, line)) head_ = object_of(line + "]}");
}

std::set<std::string> OlderSet::sides() const {
  std::set<std::string> out;
  if (text_at(head_, "schema") != kSetSchema) return out;
  for (const json::value& side : array_at(head_, "sides")) {
    if (side.is_string() && is_file_name(side.get_string())) out.emplace(side.get_string());
  }
  return out;
}

std::optional<std::string> OlderSet::next_page() {
  std::string line;
  while (std::getline(file_, line)) {
    if (line.ends_with(',')) line.pop_back();
    std::string name(text_at(object_of(line), "page"));
    if (is_file_name(name)) return name;
  }
  return std::nullopt;
}

}  // namespace reprise
