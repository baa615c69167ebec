#pragma once

#include <filesystem>

namespace CLI {
class App;
}

namespace reprise {

/// Adds `import` to `reprise archive`.
void add_import_command(CLI::App& archive, int& exit_code);

/// Runs `archive import RECORDING -o ARCHIVE`. Prints counts and errors on stderr; returns the exit
/// code.
int import_recording(const std::filesystem::path& recording, const std::filesystem::path& archive);

}  // namespace reprise
