#include "analysis/contribution/entities.h"

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

#include "base/http/headers.h"
#include "base/text/glob.h"
#include "pageload/results/fields.h"

namespace reprise {

const Entities& Entities::built_in() {
  static const Entities kEntities = parse(kEntitiesText.empty() ? "[]" : kEntitiesText).value();
  return kEntities;
}

std::expected<Entities, std::string> Entities::parse(std::string_view text) {
  if (text.size() > kBytesMax) return std::unexpected("it is larger than 64 MiB");
  boost::system::error_code error;
  auto const value = boost::json::parse(text, error);
  if (error) return std::unexpected("not JSON: " + error.message());
  if (!value.is_array()) return std::unexpected("not an array of entities");
  Entities entities;
  std::string wrong;
  boost::json::object const all = {{"entities", value}};
  Fields(all, "", wrong).each("entities", Fields::kListMax, [&](Fields each) {
    Entity const entity{.name = each.text("name"), .category = lower_case(each.text("category"))};
    for (std::string const& written : each.texts("domains")) {
      auto const domain = lower_case(written);
      if (domain.starts_with("*.")) {
        entities.by_suffix_.emplace(domain.substr(2), entity);
      } else {
        entities.by_host_.emplace(domain, entity);
      }
    }
  });
  if (!wrong.empty()) return std::unexpected(std::move(wrong));
  return entities;
}

const Entity* Entities::find(std::string_view host) const {
  auto const exact = by_host_.find(host);
  if (exact != by_host_.end()) return &exact->second;
  while (!host.empty()) {
    auto const found = by_suffix_.find(host);
    if (found != by_suffix_.end()) return &found->second;
    auto const dot = host.find('.');
    host.remove_prefix(dot == std::string_view::npos ? host.size() : dot + 1);
  }
  return nullptr;
}

}  // namespace reprise
