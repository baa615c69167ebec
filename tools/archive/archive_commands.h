#pragma once

// The subcommands of `reprise archive` that make or compare archives, one file per subcommand: each
// function adds its subcommand to `archive`.

namespace CLI {
class App;
}

namespace reprise {

void add_add_command(CLI::App& archive, int& exit_code);
void add_diff_command(CLI::App& archive, int& exit_code);
void add_edit_command(CLI::App& archive, int& exit_code);
void add_merge_command(CLI::App& archive, int& exit_code);
void add_redact_command(CLI::App& archive, int& exit_code);
void add_trim_command(CLI::App& archive, int& exit_code);

}  // namespace reprise
