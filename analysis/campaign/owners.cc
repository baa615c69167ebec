#include "analysis/campaign/owners.h"

#include <boost/json/parse.hpp>

#include "analysis/campaign/file_name.h"
#include "base/text/glob.h"
#include "pageload/results/fields.h"

namespace reprise {

std::expected<Owners, std::string> Owners::parse(std::string_view text) {
  boost::system::error_code malformed;
  auto const parsed = boost::json::parse(text, malformed);
  if (malformed) return std::unexpected("it is not JSON: " + malformed.message());
  if (!parsed.is_object()) return std::unexpected("it is not a JSON object");
  std::string error;
  Owners owners;
  Fields from(parsed.get_object(), "", error);
  if (from.text("schema") != "reprise-owners/1") {
    from.wrong("schema", "must be \"reprise-owners/1\"");
  }
  from.each("owners", Fields::kListMax, [&](Fields each) {
    auto const owner = each.text("owner");
    if (!is_file_name(owner)) each.wrong("owner", kFileNameRule);
    auto const patterns = each.texts("pages");
    if (patterns.empty()) each.wrong("pages", "must have patterns of names or URLs");
    for (const std::string& pattern : patterns) {
      owners.rules_.push_back({.owner = owner, .pattern = pattern});
    }
  });
  if (!error.empty()) return std::unexpected(error);
  return owners;
}

const std::string& Owners::owner_of(std::string_view page, std::string_view url) const {
  for (const Rule& rule : rules_) {
    if (!fits_glob(rule.pattern, page) && !fits_glob(rule.pattern, url)) continue;
    rule.used = true;
    return rule.owner;
  }
  return nobody_;
}

std::vector<std::string> Owners::unused() const {
  std::vector<std::string> out;
  for (const Rule& rule : rules_) {
    if (!rule.used) out.push_back(rule.owner + ": " + rule.pattern);
  }
  return out;
}

}  // namespace reprise
