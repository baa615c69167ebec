#pragma once

#include <filesystem>

namespace reprise {

/// Where this user keeps files of one kind: the value of `variable` ("XDG_CACHE_HOME") when that is
/// an absolute path, else `below_home` (".cache") in the home folder. By the XDG Base Directory
/// Specification, which ignores relative paths. Makes no folder.
std::filesystem::path user_folder(const char* variable, const std::filesystem::path& below_home);

}  // namespace reprise
