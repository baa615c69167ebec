#include "archive/edit/redact_fields.h"

#include <algorithm>

#include "archive/edit/glob.h"

namespace reprise {
namespace {

bool any_glob(const std::vector<std::string>& globs, std::string_view name) {
  return std::ranges::any_of(globs,
                             [name](const std::string& glob) { return matches_glob(glob, name); });
}

/// A mere word, as "accepted" in a cookie, would be found in every script.
bool is_searched(std::string_view cookie) {
  return cookie.find_first_of("0123456789") != std::string_view::npos;
}

/// " name=value"
std::string visit_cookie(std::string_view pair, const VisitSecret& visit) {
  auto const begin = std::min(pair.find_first_not_of(" \t"), pair.size());
  auto const equals = pair.find('=', begin);
  auto const value_at = equals == std::string_view::npos ? begin : equals + 1;
  auto const name = equals == std::string_view::npos
                        ? "cookie without a name"
                        : "cookie " + std::string(pair.substr(begin, equals - begin));
  auto head = pair.substr(0, value_at);
  auto value = pair.substr(value_at);
  std::string_view tail;
  if (value.size() >= 2 && value.starts_with('"') && value.ends_with('"')) {
    head = pair.substr(0, value_at + 1);
    tail = value.substr(value.size() - 1);
    value = value.substr(1, value.size() - 2);
  }
  if (value.empty()) return std::string(pair);
  return std::string(head).append(visit(value, name, is_searched(value))).append(tail);
}

/// Cookie: a=1; b=2
std::string visit_cookies(std::string_view text, const VisitSecret& visit) {
  std::string out;
  while (true) {
    auto const end = std::min(text.find(';'), text.size());
    out += visit_cookie(text.substr(0, end), visit);
    if (end == text.size()) return out;
    out += ';';
    text.remove_prefix(end + 1);
  }
}

/// Set-Cookie: a=1; Path=/
std::string visit_set_cookie(std::string_view text, const VisitSecret& visit) {
  auto const end = std::min(text.find(';'), text.size());
  return visit_cookie(text.substr(0, end), visit).append(text.substr(end));
}

/// Authorization: Bearer abc
std::string visit_credentials(std::string_view text, const std::string& name,
                              const VisitSecret& visit) {
  auto const space = text.find(' ');
  auto const at = space == std::string_view::npos ? 0 : space + 1;
  if (at == text.size()) return std::string(text);
  return std::string(text.substr(0, at)).append(visit(text.substr(at), name, true));
}

std::size_t value_end(std::string_view text, std::size_t from) {
  return std::min(text.find_first_of(std::string_view("&#\"'<> \t\r\n\0", 10), from), text.size());
}

}  // namespace

std::string visit_parameters(std::string_view text, bool is_form, const RedactOptions& options,
                             const VisitSecret& visit) {
  if (options.parameters.empty()) return std::string(text);
  std::string out;
  std::size_t copied = 0;
  auto at = is_form ? 0 : text.find_first_of("?&#;");
  if (at != std::string_view::npos && !is_form) ++at;
  while (at != std::string_view::npos && at < text.size()) {
    auto const name_end = std::min(text.find_first_of("=&#;?", at), text.size());
    if (name_end < text.size() && text[name_end] == '=') {
      auto const name = text.substr(at, name_end - at);
      auto const end = value_end(text, name_end + 1);
      if (end > name_end + 1 && any_glob(options.parameters, name)) {
        out.append(text, copied, name_end + 1 - copied);
        out += visit(text.substr(name_end + 1, end - name_end - 1),
                     "parameter " + std::string(name), true);
        copied = end;
        at = end;
      }
    }
    at = text.find_first_of("?&#;", at);
    if (at != std::string_view::npos) ++at;
  }
  return out.append(text, copied);
}

std::string visit_field(const HeaderView& field, const RedactOptions& options,
                        const VisitSecret& visit) {
  auto const name = lower_case(field.name);
  if (field.value.empty()) return {};
  if (any_glob(options.headers, name)) return visit(field.value, "header " + name, true);
  if (options.cookies && name == "cookie") return visit_cookies(field.value, visit);
  if (options.cookies && name == "set-cookie") return visit_set_cookie(field.value, visit);
  if (options.authorization && (name == "authorization" || name == "proxy-authorization")) {
    return visit_credentials(field.value, "header " + name, visit);
  }
  return visit_parameters(field.value, false, options, visit);
}

}  // namespace reprise
