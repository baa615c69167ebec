#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace reprise::inject {

/// What an HTML parser makes of a document in UTF-8.
struct Tree {
  std::string dump;                  ///< one node a line, without the scripts that were looked for
  std::vector<std::string> scripts;  ///< the texts of all scripts, in tree order
  std::string parent;                ///< of the script that was looked for
  int found = 0;                     ///< how often it is there
};

/// Parses; `own` is the text of the script that is to be left out of the dump.
Tree tree_of(std::string_view html, std::string_view own);

}  // namespace reprise::inject
