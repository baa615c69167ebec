#include "tools/process/command_line.h"

namespace CLI {
REPRISE_OPTION_TYPES()
}  // namespace CLI

namespace reprise {

CLI::App* add_command(CLI::App& app, const std::string& name, const std::string& description) {
  return app.add_subcommand(name, description);
}

}  // namespace reprise
