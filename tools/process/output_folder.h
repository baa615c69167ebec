#pragma once

#include <expected>
#include <filesystem>
#include <string>

namespace reprise {

/// Creates a folder for files that are written after long work, and checks that files can be
/// created in it. Nothing is done if `folder` is empty. The error is a sentence with its path.
std::expected<void, std::string> make_output_folder(const std::filesystem::path& folder);

}  // namespace reprise
