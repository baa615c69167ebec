#include "tools/campaign/recorded_pages.h"

#include <boost/json/array.hpp>
#include <map>
#include <string_view>

#include "base/text/json_fields.h"

namespace json = boost::json;

namespace reprise {

RecordedPages recorded_pages(const Plan& plan, const Shard& shard, const json::object& corpus) {
  std::map<std::string_view, const json::object*> pages;
  for (const json::value& each : array_at(corpus, "pages")) {
    if (each.is_object()) pages.emplace(text_at(each.get_object(), "name"), &each.get_object());
  }
  RecordedPages out;
  for (const ShardPart& part : shard.parts) {
    auto const found = pages.find(plan.pages[part.page].name);
    if (found == pages.end()) {
      ++out.unreached;
    } else if (text_at(*found->second, "archive").empty()) {
      out.failures.push_back({.page = part.page,
                              .name = {},
                              .side = {},
                              .url = {},
                              .loads = 1,
                              .why = std::string(text_at(*found->second, "failure"))});
    }
  }
  return out;
}

std::string not_recorded_text(const Plan& plan, const std::vector<PageFailure>& failures) {
  std::string names;
  for (const PageFailure& each : failures) {
    names += (names.empty() ? "'" : ", '") + plan.pages[each.page].name + "'";
  }
  return (failures.size() == 1 ? "the page " : "the pages ") + names + " cannot be recorded";
}

}  // namespace reprise
