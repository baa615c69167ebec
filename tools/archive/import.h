#pragma once

#include <filesystem>

namespace CLI {
class App;
}

namespace reprise {

/// Adds `import` to `reprise archive`.
void add_import_command(CLI::App& archive, int& exit_code);

/// What `archive import RECORDING -o ARCHIVE` does. Returns its exit code; what it found, and what
/// is wrong, is said on stderr.
int import_recording(const std::filesystem::path& recording, const std::filesystem::path& archive);

}  // namespace reprise
