#include "tools/completion/command_tree.h"

#include <string_view>

#include "tools/process/command_line.h"

namespace reprise {
namespace {

/// The members in "TEXT:{fuzzy,exact}", as CLI11 describes an option with a set of values.
std::vector<std::string> choices_in(std::string_view type_name) {
  std::vector<std::string> choices;
  auto const begin = type_name.find('{');
  auto const end = type_name.find('}', begin);
  if (begin == std::string_view::npos || end == std::string_view::npos) return choices;
  auto rest = type_name.substr(begin + 1, end - begin - 1);
  while (!rest.empty()) {
    auto const comma = rest.find(',');
    choices.emplace_back(rest.substr(0, comma));
    rest = comma == std::string_view::npos ? "" : rest.substr(comma + 1);
  }
  return choices;
}

CommandOption describe(const CLI::Option& option) {
  CommandOption described{.description = option.get_description(),
                          .takes_value = option.get_items_expected_max() > 0,
                          .choices = choices_in(option.get_type_name())};
  for (const std::string& name : option.get_snames()) described.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) described.names.push_back("--" + name);
  return described;
}

void add(const CLI::App& app, const std::string& words, std::vector<CommandNode>& tree) {
  CommandNode node{.words = words, .description = app.get_description()};
  for (const CLI::Option* const option : app.get_options()) {
    bool const named = !option->get_snames().empty() || !option->get_lnames().empty();
    if (named && !option->get_group().empty()) node.options.push_back(describe(*option));
  }
  std::vector<const CLI::App*> below;
  for (const CLI::App* const each : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (each->get_group().empty()) continue;
    below.push_back(each);
    node.subcommands.push_back(each->get_name());
  }
  tree.push_back(std::move(node));
  for (const CLI::App* const each : below) {
    add(*each, (words.empty() ? "" : words + " ") + each->get_name(), tree);
  }
}

}  // namespace

std::vector<CommandNode> command_tree(const CLI::App& app) {
  std::vector<CommandNode> tree;
  add(app, "", tree);
  return tree;
}

}  // namespace reprise
