#include "archive/import/har_charset.h"

#include <algorithm>
#include <array>

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

bool means_utf8(std::string_view charset) {
  if (charset.starts_with('"')) charset = charset.substr(1, charset.find('"', 1) - 1);
  return equals_ignoring_case(charset, "utf-8") || equals_ignoring_case(charset, "utf8");
}

bool set_charset_of(std::string& value) {
  auto const type = lower_case(trim_blanks(std::string_view(value).substr(0, value.find(';'))));
  if (!is_text_type(type)) return false;
  for (auto at = value.find(';'); at != std::string::npos; at = value.find(';', at)) {
    ++at;
    auto const end = std::min(value.find(';', at), value.size());
    auto const part = trim_blanks(std::string_view(value).substr(at, end - at));
    if (!starts_with_ignoring_case(part, kCharset)) continue;
    if (means_utf8(part.substr(kCharset.size()))) return false;
    value.replace(at, end - at, " charset=utf-8");
    return true;
  }
  // JSON without a charset is UTF-8 (RFC 8259 section 8.1).
  if (is_of_kind(type, "json")) return false;
  value += "; charset=utf-8";
  return true;
}

}  // namespace

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
