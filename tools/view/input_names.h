#pragma once

// The names of the inputs on the page of `reprise view`.

#include <filesystem>
#include <string>
#include <vector>

namespace reprise {

/// One for each of `paths`: its file name, after as many of its folders as files of the same name
/// need to differ ("before/result.json"). A path that is given again gets a number
/// ("result.json (2)"). `paths` do not end in a slash. Pure.
std::vector<std::string> input_names(const std::vector<std::filesystem::path>& paths);

}  // namespace reprise
