#include "base/text/percent.h"

namespace reprise {
namespace {

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

PercentUnit first_percent_unit(std::string_view text) {
  if (text[0] == '%' && text.size() >= 3) {
    auto const high = hex_value(text[1]);
    auto const low = hex_value(text[2]);
    if (high >= 0 && low >= 0) return {.plain = static_cast<char>(high * 16 + low), .bytes = 3};
  }
  return {.plain = text[0], .bytes = 1};
}

std::string percent_decoded(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    auto const unit = first_percent_unit(text);
    plain += unit.plain;
    text.remove_prefix(unit.bytes);
  }
  return plain;
}

}  // namespace reprise
