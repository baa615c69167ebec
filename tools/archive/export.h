#pragma once

#include <CLI/CLI.hpp>

namespace reprise {

/// Adds `export` to `reprise archive`.
void add_export_command(CLI::App& archive, int& exit_code);

}  // namespace reprise
