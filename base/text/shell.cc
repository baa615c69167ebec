#include "base/text/shell.h"

#include <algorithm>

namespace reprise {
namespace {

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("-_=+,./:@%").contains(c);
}

}  // namespace

bool is_plain_word(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_plain);
}

std::string in_single_quotes(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::string shell_quoted(std::string_view text) {
  return is_plain_word(text) ? std::string(text) : in_single_quotes(text);
}

}  // namespace reprise
