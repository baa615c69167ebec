#include "base/text/text_table.h"

#include <algorithm>

namespace reprise {
namespace {

/// The number of characters, which in UTF-8 can have several bytes.
std::size_t width_of(const std::string& text) {
  std::size_t width = 0;
  for (char const c : text) width += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return width;
}

}  // namespace

std::string text_table(const std::vector<TableRow>& rows) {
  if (rows.empty()) return {};
  std::vector<std::size_t> widths(rows.front().size());
  for (const TableRow& row : rows) {
    for (std::size_t i = 0; i < widths.size(); ++i) {
      widths[i] = std::max(widths[i], width_of(row[i]));
    }
  }
  std::string text;
  for (const TableRow& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      std::string const space(widths[i] - width_of(row[i]), ' ');
      bool const left = i == 0 || i + 1 == widths.size();
      line += (i > 0 ? "  " : "") + (left ? row[i] + space : space + row[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += "  " + line + "\n";
  }
  return text;
}

}  // namespace reprise
