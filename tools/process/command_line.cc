#include "tools/process/command_line.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace CLI {
REPRISE_OPTION_TYPES()
}  // namespace CLI

namespace reprise {

std::unique_ptr<CLI::App> make_command_line(const std::string& description,
                                            const std::string& name) {
  return std::make_unique<CLI::App>(description, name);
}

void parse_words(CLI::App& app, std::vector<std::string> words) {
  std::ranges::reverse(words);  // the order that CLI11 needs
  app.parse(words);
}

CLI::Option_group* add_group(CLI::App& command, const std::string& name) {
  return command.add_option_group(name);
}

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

CLI::Validator whole_numbers_from(std::uint64_t least) {
  auto const wanted = "a whole number of at least " + std::to_string(least);
  return CLI::Validator(
      [least, wanted](std::string& text) {
        std::uint64_t value = 0;
        auto const* const end = text.data() + text.size();
        auto const [last, error] = std::from_chars(text.data(), end, value);
        bool const fits = error == std::errc() && last == end && value >= least;
        return fits ? std::string() : "'" + text + "' is not " + wanted;
      },
      "");
}

CLI::Validator seeds() {
  auto const whole = whole_numbers_from(0);
  auto const range = CLI::Range(std::uint64_t{0}, std::uint64_t{1} << 53);
  return CLI::Validator(
      [whole, range](std::string& text) {
        auto wrong = whole(text);
        return wrong.empty() ? range(text) : wrong;
      },
      range.get_description());
}

}  // namespace reprise
