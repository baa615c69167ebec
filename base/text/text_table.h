#pragma once

#include <string>
#include <vector>

namespace reprise {

using TableRow = std::vector<std::string>;

/// Lines indented by two spaces; the first and the last column are aligned left, the others right.
/// All rows have as many cells as the first.
std::string text_table(const std::vector<TableRow>& rows);

}  // namespace reprise
