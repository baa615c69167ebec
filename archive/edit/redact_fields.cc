#include "archive/edit/redact_fields.h"

#include <algorithm>
#include <optional>

#include "base/http/media_type.h"
#include "base/text/base64.h"
#include "base/text/glob.h"
#include "base/text/percent.h"
#include "base/text/white_space.h"

namespace reprise {
namespace {

bool any_glob(const std::vector<std::string>& globs, std::string_view name) {
  return std::ranges::any_of(globs,
                             [name](const std::string& glob) { return fits_glob(glob, name); });
}

/// The name of a parameter that a glob fits: as written, or decoded (`user%5Bname%5D` is
/// user[name], and `+` a space).
std::optional<std::string> named_parameter(const RedactOptions& options, std::string_view name) {
  if (any_glob(options.parameters, name)) return std::string(name);
  if (name.find_first_of("%+") == std::string_view::npos) return std::nullopt;
  std::string plain(name);
  std::ranges::replace(plain, '+', ' ');
  plain = percent_decoded(plain);
  return any_glob(options.parameters, plain) ? std::optional(std::move(plain)) : std::nullopt;
}

/// A plain word, such as "accepted" in a cookie, would be found in every script.
Searched searched_cookie(std::string_view cookie) {
  return cookie.find_first_of("0123456789") == std::string_view::npos ? Searched::kNo
                                                                      : Searched::kYes;
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
  return std::string(head).append(visit(value, name, searched_cookie(value))).append(tail);
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
  return std::string(text.substr(0, at)).append(visit(text.substr(at), name, Searched::kYes));
}

bool is_credentials_field(std::string_view lower_name) {
  return lower_name == "authorization" || lower_name == "proxy-authorization";
}

/// The characters between parameters.
struct PairSyntax {
  std::string_view separators;  ///< a parameter can begin after one
  std::string_view name_ends;
  std::string_view value_ends;
};
/// In a text with URLs, quotes and white space end a value.
constexpr PairSyntax kInUrls{
    .separators = "?&#;", .name_ends = "=&#;?", .value_ends = "&#\"'<> \t\r\n"};
/// In a form only `&` does: curl and scripts send all other characters as they are.
constexpr PairSyntax kInForms{.separators = "&", .name_ends = "=&", .value_ends = "&"};

constexpr std::string_view kMultipart = "multipart/form-data";

/// `at`: the place of the first possible parameter.
std::string visit_pairs(std::string_view text, std::size_t at, const PairSyntax& syntax,
                        const RedactOptions& options, const VisitSecret& visit) {
  std::string out;
  std::size_t copied = 0;
  while (at != std::string_view::npos && at < text.size()) {
    auto const name_end = std::min(text.find_first_of(syntax.name_ends, at), text.size());
    if (name_end < text.size() && text[name_end] == '=') {
      auto const value_at = name_end + 1;
      auto const end = std::min(text.find_first_of(syntax.value_ends, value_at), text.size());
      auto const name =
          end == value_at ? std::nullopt : named_parameter(options, text.substr(at, name_end - at));
      if (name) {
        out.append(text, copied, value_at - copied);
        out += visit(text.substr(value_at, end - value_at), "parameter " + *name,
                     Searched::kPlusAsSpaceToo);
        copied = end;
        at = end;
      }
    }
    at = text.find_first_of(syntax.separators, at);
    if (at != std::string_view::npos) ++at;
  }
  return out.append(text, copied);
}

/// RFC 7578: parts between lines of "--" and the boundary, each with a head that names its field.
std::string visit_multipart(std::string_view body, const std::string& delimiter,
                            const RedactOptions& options, const VisitSecret& visit) {
  constexpr std::string_view kName = " name=\"";
  std::string out;
  std::size_t copied = 0;
  for (auto at = body.find(delimiter); at != std::string_view::npos;) {
    auto const next = std::min(body.find(delimiter, at + delimiter.size()), body.size());
    auto const part = body.substr(at, next - at);
    auto const head_end = part.find("\r\n\r\n");
    auto const name_at = part.substr(0, head_end).find(kName);
    at = next == body.size() ? std::string_view::npos : next;
    if (head_end == std::string_view::npos || name_at == std::string_view::npos) continue;
    auto quoted = part.substr(name_at + kName.size());
    quoted = quoted.substr(0, quoted.find('"'));
    auto value = part.substr(head_end + 4);
    if (value.ends_with("\r\n")) value.remove_suffix(2);
    auto const name = value.empty() ? std::nullopt : named_parameter(options, quoted);
    if (!name) continue;
    auto const value_at = static_cast<std::size_t>(value.data() - body.data());
    out.append(body, copied, value_at - copied);
    out += visit(value, "parameter " + *name, Searched::kYes);
    copied = value_at + value.size();
  }
  return out.append(body, copied);
}

/// "--" and the boundary in a Content-Type; empty if it has none.
std::string delimiter_of(HeaderList headers) {
  auto const type = find_header(headers, "content-type").value_or("");
  constexpr std::string_view kBoundary = "boundary=";
  auto const at = lower_case(type).find(kBoundary);
  if (at == std::string::npos) return {};
  auto boundary = type.substr(at + kBoundary.size());
  if (boundary.starts_with('"')) boundary.remove_prefix(1);
  boundary = boundary.substr(0, boundary.find_first_of("\"; \t"));
  return boundary.empty() ? "" : "--" + std::string(boundary);
}

}  // namespace

std::string visit_credentials_of_urls(std::string_view text, const VisitSecret& visit) {
  constexpr std::string_view kScheme = "://";
  std::string out;
  std::size_t copied = 0;
  for (auto at = text.find(kScheme); at != std::string_view::npos; at = text.find(kScheme, at)) {
    at += kScheme.size();
    auto const authority =
        text.substr(at, std::min(text.find_first_of("/?#\"'<>\\ \t\r\n", at), text.size()) - at);
    auto const end = authority.rfind('@');
    if (end == std::string_view::npos || end == 0) continue;
    out.append(text, copied, at - copied);
    out += visit(authority.substr(0, end), "credentials", Searched::kYes);
    copied = at + end;
  }
  return out.append(text, copied);
}

std::string visit_urls(std::string_view text, const RedactOptions& options,
                       const VisitSecret& visit) {
  std::string out(text);
  auto const mark = text.find_first_of(kInUrls.separators);
  if (!options.parameters.empty() && mark != std::string_view::npos) {
    out = visit_pairs(text, mark + 1, kInUrls, options, visit);
  }
  return options.url_credentials ? visit_credentials_of_urls(out, visit) : out;
}

void visit_passwords_in_urls(std::string_view text, const RedactOptions& options,
                             const VisitSecret& visit) {
  if (!options.url_credentials) return;
  visit_credentials_of_urls(
      text, [&visit](std::string_view user_info, const std::string& name, Searched) {
        auto const colon = user_info.find(':');
        if (colon < user_info.size() - 1) visit(user_info.substr(colon + 1), name, Searched::kYes);
        return std::string();
      });
}

void visit_passwords(const HeaderView& field, const RedactOptions& options,
                     const VisitSecret& visit) {
  auto const name = lower_case(field.name);
  if (!is_credentials_field(name)) return visit_passwords_in_urls(field.value, options, visit);
  constexpr std::string_view kBasic = "basic ";
  if (!options.authorization || !lower_case(field.value).starts_with(kBasic)) return;
  auto const decoded = decode_base64(trim_blanks(field.value.substr(kBasic.size())));
  if (!decoded || decoded->empty()) return;
  visit(*decoded, "header " + name, Searched::kYes);
  auto const colon = decoded->find(':');
  if (colon < decoded->size() - 1) {
    visit(decoded->substr(colon + 1), "header " + name, Searched::kYes);
  }
}

bool is_form(HeaderList headers) {
  auto const type = media_type(headers);
  return type == "application/x-www-form-urlencoded" || type == kMultipart;
}

std::string visit_form(HeaderList headers, std::string_view body, const RedactOptions& options,
                       const VisitSecret& visit) {
  if (options.parameters.empty()) return std::string(body);
  if (media_type(headers) != kMultipart) return visit_pairs(body, 0, kInForms, options, visit);
  auto const delimiter = delimiter_of(headers);
  return delimiter.empty() ? std::string(body) : visit_multipart(body, delimiter, options, visit);
}

std::string visit_field(const HeaderView& field, const RedactOptions& options,
                        const VisitSecret& visit) {
  auto const name = lower_case(field.name);
  if (field.value.empty()) return {};
  if (any_glob(options.headers, name)) {
    return visit(field.value, "header " + name, Searched::kYes);
  }
  if (options.cookies && name == "cookie") return visit_cookies(field.value, visit);
  if (options.cookies && name == "set-cookie") return visit_set_cookie(field.value, visit);
  if (options.authorization && is_credentials_field(name)) {
    return visit_credentials(field.value, "header " + name, visit);
  }
  return visit_urls(field.value, options, visit);
}

}  // namespace reprise
