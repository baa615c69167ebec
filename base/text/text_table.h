#pragma once

#include <string>
#include <vector>

namespace reprise {

using TableRow = std::vector<std::string>;

/// Lines with two spaces before them: the first and the last column to the left, the others to the
/// right. All rows have as many cells as the first.
std::string text_table(const std::vector<TableRow>& rows);

}  // namespace reprise
