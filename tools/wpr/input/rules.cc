#include "tools/wpr/input/rules.h"

#include <re2/re2.h>

#include <algorithm>
#include <boost/json.hpp>

namespace reprise::wpr {
namespace {

namespace json = boost::json;

constexpr std::size_t kRulesMax = 10'000;

/// The member of that name in any case; null if it is missing or null.
const json::value* member(const json::object& rule, std::string_view name) {
  auto const found = std::ranges::find_if(
      rule, [name](auto const& each) { return equals_ignoring_case(each.key(), name); });
  return found == rule.end() || found->value().is_null() ? nullptr : &found->value();
}

/// Nothing if it is not text; empty if it is missing.
std::expected<std::string, std::string> text_of(const json::object& rule, std::string_view name) {
  auto const* const value = member(rule, name);
  if (value == nullptr) return "";
  if (value->is_string()) return std::string(value->get_string());
  return std::unexpected(std::string(name) + " must be a string");
}

bool is_field(std::string_view name, std::string_view value) {
  auto const in_name = [](unsigned char c) { return c > ' ' && c < 0x7f && c != ':'; };
  auto const in_value = [](unsigned char c) { return (c >= ' ' && c != 0x7f) || c == '\t'; };
  return !name.empty() && std::ranges::all_of(name, in_name) &&
         std::ranges::all_of(value, in_value);
}

std::expected<Headers, std::string> headers_of(const json::object& rule) {
  auto const* const value = member(rule, "ExtraHeaders");
  if (value == nullptr) return Headers();
  std::vector<HeaderView> fields;
  auto const wrong = std::unexpected(
      std::string("ExtraHeaders must be an object of lists: {\"Name\": [\"value\"]}"));
  if (!value->is_object()) return wrong;
  for (auto const& [name, values] : value->get_object()) {
    if (!values.is_array()) return wrong;
    for (json::value const& each : values.get_array()) {
      if (!each.is_string() || !is_field(name, each.get_string())) return wrong;
      fields.push_back({.name = name, .value = each.get_string()});
    }
  }
  return Headers(HeaderList(fields));
}

/// The error is RE2's.
std::expected<std::shared_ptr<const re2::RE2>, std::string> compiled(std::string_view pattern) {
  auto regex = std::make_shared<const re2::RE2>(re2::StringPiece(pattern.data(), pattern.size()),
                                                re2::RE2::Quiet);
  if (!regex->ok()) return std::unexpected(regex->error());
  return regex;
}

std::expected<Rule, std::string> parse_rule(const json::value& value,
                                            const std::filesystem::path& folder) {
  if (!value.is_object()) return std::unexpected("it must be an object");
  auto const& object = value.get_object();
  auto url = text_of(object, "URL");
  if (!url) return std::unexpected(url.error());
  auto const pattern = text_of(object, "URLPattern");
  if (!pattern) return std::unexpected(pattern.error());
  auto const script = text_of(object, "InjectedScript");
  if (!script) return std::unexpected(script.error());
  auto headers = headers_of(object);
  if (!headers) return std::unexpected(headers.error());
  if (url->empty() == pattern->empty()) {
    return std::unexpected("it must have either URL or URLPattern");
  }
  auto const* const pushes = member(object, "Push");
  Rule rule{.url = std::move(*url), .extra_headers = std::move(*headers)};
  rule.pushes = pushes != nullptr && pushes->is_array() && !pushes->get_array().empty();
  if (!script->empty()) rule.script = folder / *script;
  if (!pattern->empty()) {
    auto regex = compiled(*pattern);
    if (!regex) return std::unexpected("URLPattern: " + regex.error());
    rule.pattern = std::move(*regex);
  }
  if (rule.extra_headers.empty() && rule.script.empty() && !rule.pushes) {
    return std::unexpected("it has no effect");
  }
  return rule;
}

}  // namespace

bool Rule::selects(std::string_view of_url) const {
  if (pattern == nullptr) return of_url == url;
  return re2::RE2::PartialMatch(re2::StringPiece(of_url.data(), of_url.size()), *pattern);
}

std::expected<std::vector<Rule>, std::string> parse_rules(std::string_view text,
                                                          const std::filesystem::path& folder) {
  json::error_code malformed;
  auto const value = json::parse(text, malformed);
  if (malformed) return std::unexpected("is not JSON: " + malformed.message());
  if (!value.is_array()) return std::unexpected("must be a list of rules");
  auto const& list = value.get_array();
  if (list.size() > kRulesMax) return std::unexpected("has more than 10,000 rules");
  std::vector<Rule> rules;
  for (json::value const& each : list) {
    auto rule = parse_rule(each, folder);
    if (!rule) {
      return std::unexpected("rule " + std::to_string(rules.size() + 1) + ": " + rule.error());
    }
    rules.push_back(std::move(*rule));
  }
  return rules;
}

std::expected<Rule, std::string> parse_script_by_url(std::string_view text) {
  constexpr std::string_view kBetween = "::";
  auto const at = text.find(kBetween);
  if (at == 0 || at == std::string_view::npos || at + kBetween.size() == text.size()) {
    return std::unexpected("must be SCRIPT::URL, not '" + std::string(text) + "'");
  }
  auto regex = compiled(text.substr(at + kBetween.size()));
  if (!regex) return std::unexpected(regex.error());
  Rule rule;
  rule.script = text.substr(0, at);
  rule.pattern = std::move(*regex);
  return rule;
}

}  // namespace reprise::wpr
