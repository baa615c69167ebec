#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace reprise {

/// An option, as completions offer it.
struct CommandOption {
  std::vector<std::string> names;  ///< with their dashes
  std::string description;
  bool takes_value = false;
  std::vector<std::string> choices;  ///< all values that it can have; empty: unknown
};

/// A command of the program: the words that lead to it, its options and its subcommands. Hidden
/// ones are omitted.
struct CommandNode {
  std::string words;  ///< "archive ls"; empty: the program itself
  std::string description;
  std::vector<CommandOption> options;
  std::vector<std::string> subcommands;  ///< their last words
};

/// The program's commands, each after the one that it belongs to.
std::vector<CommandNode> command_tree(const CLI::App& app);

}  // namespace reprise
