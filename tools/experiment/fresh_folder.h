#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace reprise {

/// Prepares the folder of -o before the first load: creates it, checks that files can be created in
/// it, and removes the files of an earlier run that have these names, so that nobody takes them for
/// this one's. Prints why it could not; false then. True if `folder` is empty.
bool make_fresh_folder(const std::filesystem::path& folder, const std::vector<std::string>& names);

}  // namespace reprise
