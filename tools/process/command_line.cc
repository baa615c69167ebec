#include "tools/process/command_line.h"

#include <cmath>

namespace CLI {
REPRISE_OPTION_TYPES()
}  // namespace CLI

namespace reprise {

CLI::App* add_command(CLI::App& app, const std::string& name, const std::string& description) {
  return app.add_subcommand(name, description);
}

CLI::Validator numbers_between(double least, double most) {
  auto const range = CLI::Range(least, most);
  return CLI::Validator(
      [range, least](std::string& text) {
        double value = least;
        bool const is_number = CLI::detail::lexical_cast(text, value) && !std::isnan(value);
        return is_number ? range(text) : "'" + text + "' is not a number";
      },
      range.get_description());
}

}  // namespace reprise
