#include "tools/completion/completion_script.h"

#include <string_view>
#include <vector>

#include "base/text/shell.h"

namespace reprise {
namespace {

std::string joined(const std::vector<std::string>& words, const char* separator = " ") {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : separator) + word;
  return text;
}

/// For fish, in which \ and ' are escaped by \.
std::string fish_quoted(std::string_view text) {
  std::string all = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') all += '\\';
    all += c;
  }
  return all + "'";
}

/// The patterns of a case that finds the words of a command as they are typed: "'archive ls'", ...
std::string known_commands(std::span<const CommandNode> tree, const char* separator) {
  std::vector<std::string> patterns;
  for (const CommandNode& node : tree) {
    auto const start = node.words.empty() ? "" : node.words + " ";
    for (const std::string& word : node.subcommands)
      patterns.push_back(in_single_quotes(start + word));
  }
  return joined(patterns, separator);
}

/// The cases of options that take a value: those with a set do `choose` of it, the others `files`.
template <typename Choose>
std::string value_cases(std::span<const CommandNode> tree, const Choose& choose,
                        const std::string& files) {
  std::string cases;
  std::vector<std::string> of_files;
  for (const CommandNode& node : tree) {
    for (const CommandOption& option : node.options) {
      if (!option.takes_value) continue;
      std::vector<std::string> patterns;
      for (const std::string& name : option.names)
        patterns.push_back(in_single_quotes(node.words + name));
      if (option.choices.empty()) {
        of_files.insert(of_files.end(), patterns.begin(), patterns.end());
      } else {
        cases += "    " + joined(patterns, " | ") + ") " + choose(joined(option.choices)) + " ;;\n";
      }
    }
  }
  if (!of_files.empty()) cases += "    " + joined(of_files, " | ") + ") " + files + " ;;\n";
  return cases;
}

std::string bash_values(std::span<const CommandNode> tree) {
  return value_cases(
      tree, [](const std::string& words) { return "words=" + in_single_quotes(words); }, "return");
}

std::string bash_words(std::span<const CommandNode> tree) {
  std::string cases;
  for (const CommandNode& node : tree) {
    std::vector<std::string> options;
    for (const CommandOption& option : node.options) {
      options.insert(options.end(), option.names.begin(), option.names.end());
    }
    cases += "      " + in_single_quotes(node.words) +
             ") commands=" + in_single_quotes(joined(node.subcommands)) +
             " options=" + in_single_quotes(joined(options)) + " ;;\n";
  }
  return cases;
}

/// "--match:fuzzy: answer with ..." for _describe, which splits at colons.
std::string zsh_item(std::string_view word, std::string_view description) {
  std::string item;
  for (const char c : word) {
    if (c == ':') item += '\\';
    item += c;
  }
  return in_single_quotes(item + ":" + std::string(description));
}

std::string zsh_values(std::span<const CommandNode> tree) {
  return value_cases(
      tree, [](const std::string& words) { return "compadd -- " + words + "; return"; },
      "_files; return");
}

std::string zsh_words(std::span<const CommandNode> tree) {
  std::string cases;
  for (const CommandNode& node : tree) {
    std::string options;
    for (const CommandOption& option : node.options) {
      for (const std::string& name : option.names) {
        options += "\n        " + zsh_item(name, option.description);
      }
    }
    std::string commands;
    for (const CommandNode& below : tree) {
      auto const start = node.words.empty() ? "" : node.words + " ";
      for (const std::string& word : node.subcommands) {
        if (below.words == start + word) {
          commands += "\n        " + zsh_item(word, below.description);
        }
      }
    }
    cases += "    " + in_single_quotes(node.words) + ")\n      commands=(" + commands +
             ")\n      options=(" + options + ")\n      ;;\n";
  }
  return cases;
}

}  // namespace

std::string bash_completion(std::span<const CommandNode> tree) {
  return R"(# Completion of reprise for bash; `reprise completion bash` prints it.

_reprise() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  local command='' words='' commands='' options='' word i
  # Bash makes three words of --match=fuzzy.
  if [[ $current == '=' ]]; then
    current=''
  elif [[ $previous == '=' && COMP_CWORD -ge 2 ]]; then
    previous=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; ++i)); do
    word=${COMP_WORDS[i]}
    [[ $word != -- ]] || return
    case "${command:+$command }$word" in
      )" +
         known_commands(tree, " | ") +
         R"()
        command=${command:+$command }$word ;;
    esac
  done
  case "$command$previous" in
)" + bash_values(tree) +
         R"(  esac
  if [[ -z $words ]]; then
    case $command in
)" + bash_words(tree) +
         R"(    esac
    words=$commands
    [[ $current != -* ]] || words=$options
  fi
  while IFS= read -r word; do
    COMPREPLY+=("$word")
  done < <(compgen -W "$words" -- "$current")
}
complete -o bashdefault -o default -F _reprise reprise
)";
}

std::string zsh_completion(std::span<const CommandNode> tree) {
  return R"(#compdef reprise
# Completion of reprise for zsh; `reprise completion zsh` prints it.

local command='' word previous=${words[CURRENT-1]}
local -a commands options
for word in ${words[2,CURRENT-1]}; do
  if [[ $word == -- ]]; then
    _files
    return
  fi
  case "${command:+$command }$word" in
    )" + known_commands(tree, " | ") +
         R"()
      command=${command:+$command }$word ;;
  esac
done
case "$command$previous" in
)" + zsh_values(tree) +
         R"(esac
case $command in
)" + zsh_words(tree) +
         R"(esac
if [[ ${words[CURRENT]} == -* ]]; then
  _describe -o option options
elif (( $#commands )); then
  _describe command commands
else
  _files
fi
)";
}

std::string fish_completion(std::span<const CommandNode> tree) {
  std::string script = R"(# Completion of reprise for fish; `reprise completion fish` prints it.

function __reprise_command
  set -l command ''
  for word in (commandline -opc)[2..-1]
    if test "$word" = --
      echo --
      return
    end
    switch (string trim "$command $word")
      case )" + known_commands(tree, " ") +
                       R"(
        set command (string trim "$command $word")
    end
  end
  echo $command
end

)";
  for (const CommandNode& node : tree) {
    auto const start = "complete -c reprise -n 'test (__reprise_command) = \"" + node.words + "\"'";
    for (const std::string& word : node.subcommands) {
      auto const path = node.words.empty() ? word : node.words + " " + word;
      for (const CommandNode& below : tree) {
        if (below.words != path) continue;
        script += start + " -f -a " + word + " -d " + fish_quoted(below.description) + "\n";
      }
    }
    for (const CommandOption& option : node.options) {
      script += start;
      for (const std::string& name : option.names) {
        script += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      if (!option.choices.empty()) {
        script += " -x -a " + fish_quoted(joined(option.choices));
      } else if (option.takes_value) {
        script += " -r";
      }
      script += " -d " + fish_quoted(option.description) + "\n";
    }
  }
  return script;
}

}  // namespace reprise
