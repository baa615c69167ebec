#include "tools/compare/result_set_file.h"

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

/// Of a page of a set.
std::string failure_of_all(const json::object& page) {
  for (const json::value& each : array_at(page, "failures")) {
    auto const* const failure = each.if_object();
    if (failure == nullptr) continue;
    bool const is_of_all = text_at(*failure, "side").empty() && text_at(*failure, "url").empty();
    if (is_of_all) return std::string(text_at(*failure, "why"));
  }
  return {};
}

}  // namespace

ResultSetFile::ResultSetFile(const std::filesystem::path& path) : file_(path, std::ios::binary) {
  std::string line;
  if (std::getline(file_, line)) head_ = object_of(line + "]}");
}

std::set<std::string> ResultSetFile::sides() const {
  std::set<std::string> out;
  if (text_at(head_, "schema") != kSetSchema) return out;
  for (const json::value& side : array_at(head_, "sides")) {
    if (side.is_string() && is_file_name(side.get_string())) out.emplace(side.get_string());
  }
  return out;
}

std::optional<SetPage> ResultSetFile::next_page() {
  std::string line;
  while (std::getline(file_, line)) {
    if (line.ends_with(',')) line.pop_back();
    auto const page = object_of(line);
    SetPage found{.name = std::string(text_at(page, "page")), .failure = failure_of_all(page)};
    if (is_file_name(found.name)) return found;
  }
  return std::nullopt;
}

}  // namespace reprise
