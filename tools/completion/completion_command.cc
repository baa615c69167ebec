#include <cstdio>
#include <memory>
#include <string>

#include "tools/commands.h"
#include "tools/completion/command_tree.h"
#include "tools/completion/completion_script.h"
#include "tools/process/command_line.h"

namespace reprise {

void add_completion_command(CLI::App& app, int& exit_code) {
  auto const shell = std::make_shared<std::string>();
  auto* const sub = add_command(app, "completion", "Print a completion script for a shell");
  sub->add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  sub->callback([&app, shell, &exit_code] {
    auto const tree = command_tree(app);
    auto const script = *shell == "bash"  ? bash_completion(tree)
                        : *shell == "zsh" ? zsh_completion(tree)
                                          : fish_completion(tree);
    std::fputs(script.c_str(), stdout);
    exit_code = kExitDone;
  });
}

}  // namespace reprise
