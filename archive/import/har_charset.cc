#include "archive/import/har_charset.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/http/media_type.h"
#include "base/text/white_space.h"

namespace reprise::importing {
namespace {

constexpr std::string_view kCharset = "charset=";

bool is_text_type(std::string_view type) {
  constexpr std::array<std::string_view, 3> kKinds = {"script", "json", "xml"};
  auto const is_it = [type](std::string_view kind) { return is_of_kind(type, kind); };
  return type.starts_with("text/") || std::ranges::any_of(kKinds, is_it);
}

/// The part of a Content-Type that is the charset, from its semicolon to the next one.
std::optional<std::string_view> charset_part(std::string_view value) {
  for (auto at = value.find(';'); at != std::string_view::npos; at = value.find(';', at)) {
    ++at;
    auto const part = value.substr(at, std::min(value.find(';', at), value.size()) - at);
    if (starts_with_ignoring_case(trim_blanks(part), kCharset)) return part;
  }
  return std::nullopt;
}

/// "utf-8" of " charset=\"UTF-8\"".
std::string charset_in(std::string_view part) {
  auto charset = trim_blanks(part).substr(kCharset.size());
  if (charset.starts_with('"')) charset = charset.substr(1, charset.find('"', 1) - 1);
  return lower_case(charset);
}

bool set_charset_of(std::string& value) {
  auto const type = lower_case(trim_blanks(std::string_view(value).substr(0, value.find(';'))));
  if (!is_text_type(type)) return false;
  if (auto const part = charset_part(value)) {
    auto const charset = charset_in(*part);
    if (charset == "utf-8" || charset == "utf8") return false;
    auto const at = static_cast<std::size_t>(part->data() - value.data());
    value.replace(at, part->size(), " charset=utf-8");
    return true;
  }
  // JSON without a charset is UTF-8 (RFC 8259 section 8.1).
  if (is_of_kind(type, "json")) return false;
  value += "; charset=utf-8";
  return true;
}

}  // namespace

std::string charset_of(const Fields& fields) {
  auto const* const type = find_field(fields, "Content-Type");
  auto const part = type == nullptr ? std::nullopt : charset_part(*type);
  return part ? charset_in(*part) : "";
}

bool extends_ascii(std::string_view charset) {
  // Those of the WHATWG's Encoding Standard, and names that it does not have.
  constexpr std::array<std::string_view, 7> kNames = {
      "csunicode", "iso-10646-ucs-2", "ucs-2", "unicode", "unicodefeff", "unicodefffe", "utf-7"};
  return !charset.starts_with("utf-16") && !charset.starts_with("utf-32") &&
         std::ranges::find(kNames, charset) == kNames.end();
}

bool can_shrink_as_utf8(std::string_view charset) {
  // Escape sequences, and characters of four bytes that have three in UTF-8.
  constexpr std::array<std::string_view, 3> kNames = {"iso-2022-jp", "csiso2022jp", "gb18030"};
  return !extends_ascii(charset) || std::ranges::find(kNames, charset) != kNames.end();
}

bool set_charset_utf8(Fields& fields) {
  bool changed = false;
  for (Field& field : fields) {
    if (equals_ignoring_case(field.name, "Content-Type") && set_charset_of(field.value)) {
      changed = true;
    }
  }
  return changed;
}

}  // namespace reprise::importing
