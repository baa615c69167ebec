#include "tools/why/safe_text.h"

#include <string_view>

#include "base/text/printable.h"

namespace reprise {

std::string safe_text(const std::string& text, bool markdown) {
  auto shown = printable(text);
  if (!markdown) return shown;
  std::string safe;
  for (char const c : shown) {
    if (c == '<') {
      safe += "&lt;";
    } else if (c == '&') {
      safe += "&amp;";
    } else {
      if (std::string_view("*_[]\\#|@").contains(c)) safe += '\\';
      safe += c;
    }
  }
  return safe;
}

}  // namespace reprise
