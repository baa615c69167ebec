#include "base/text/markdown.h"

#include "base/text/printable.h"

namespace reprise {

std::string markdown_escaped(std::string_view text) {
  std::string escaped;
  for (char const c : text) {
    if (c == '<') {
      escaped += "&lt;";
    } else if (c == '&') {
      escaped += "&amp;";
    } else {
      if (std::string_view("*_[]\\#|@`").contains(c)) escaped += '\\';
      escaped += c;
    }
  }
  return escaped;
}

std::string markdown_code(std::string_view text) {
  std::string fence = "`";
  while (text.contains(fence)) fence += '`';
  // A backtick beside the fence would be a part of it.
  auto const* const space = fence.size() > 1 ? " " : "";
  return fence + space + std::string(text) + space + fence;
}

std::string safe_text(std::string_view text, bool markdown) {
  auto shown = printable(text);
  return markdown ? markdown_escaped(shown) : shown;
}

}  // namespace reprise
