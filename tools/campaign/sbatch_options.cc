#include "tools/campaign/sbatch_options.h"

#include <cstddef>
#include <sstream>

#include "base/text/white_space.h"

namespace reprise {

std::optional<std::string> sbatch_value(std::span<const std::string> options, std::string_view name,
                                        char letter) {
  auto const whole = "--" + std::string(name);
  auto const brief = std::string("-") + letter;
  std::optional<std::string> value;
  for (std::size_t i = 0; i < options.size(); ++i) {
    const std::string& word = options[i];
    if (word == whole || word == brief) {
      if (i + 1 < options.size()) value = options[++i];
    } else if (word.starts_with(whole + "=")) {
      value = word.substr(whole.size() + 1);
    } else if (word.starts_with(brief)) {
      value = word.substr(brief.size());
    }
  }
  return value;
}

std::set<std::string> names_in_list(std::string_view list) {
  std::set<std::string> names;
  std::string name;
  for (char const c : list) {
    if (c != ',' && !is_white_space(c)) {
      name += c;
      continue;
    }
    if (!name.empty()) names.insert(name);
    name.clear();
  }
  if (!name.empty()) names.insert(name);
  return names;
}

std::string list_in_node_file(const std::string& text) {
  std::string list;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    auto const nodes = trim(std::string_view(line).substr(0, line.find('#')));
    if (!nodes.empty()) list += (list.empty() ? "" : ",") + std::string(nodes);
  }
  return list;
}

}  // namespace reprise
