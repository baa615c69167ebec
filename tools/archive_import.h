#pragma once

#include <CLI/CLI.hpp>

namespace reprise {

/// Adds `import` to `reprise archive`.
void add_import_command(CLI::App& archive, int& exit_code);

}  // namespace reprise
