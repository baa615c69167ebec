#pragma once

namespace CLI {
class App;
}

namespace reprise {

/// Adds `export` to `reprise archive`.
void add_export_command(CLI::App& archive, int& exit_code);

}  // namespace reprise
