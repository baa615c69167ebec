#pragma once

// Completion scripts for shells. They offer commands, options and the values of options that have a
// fixed set; everything else is completed as a file name. After `--` they leave the words alone.

#include <span>
#include <string>

#include "tools/completion/command_tree.h"

namespace reprise {

/// For bash 4 and newer; needs nothing of the package bash-completion.
std::string bash_completion(std::span<const CommandNode> tree);
/// For zsh's compsys: the file `_reprise` in a folder of $fpath.
std::string zsh_completion(std::span<const CommandNode> tree);
/// For fish 3 and newer.
std::string fish_completion(std::span<const CommandNode> tree);

}  // namespace reprise
