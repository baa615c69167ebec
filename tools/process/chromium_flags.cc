#include "tools/process/chromium_flags.h"

#include <string_view>

#include "base/text/shell.h"

namespace reprise {
namespace {

constexpr std::string_view kFlagsPlace = "{chromium-flags}";

std::string shell_word(std::string_view flag) {
  auto const name_size = flag.find('=') + 1;  // 0: no value
  auto const name = flag.substr(0, name_size);
  if (!is_plain_word(name)) return shell_quoted(flag);
  return std::string(name) + shell_quoted(flag.substr(name_size));
}

}  // namespace

std::string to_shell_words(const std::vector<std::string>& flags) {
  std::string words;
  for (const std::string& flag : flags) words += (words.empty() ? "" : " ") + shell_word(flag);
  return words;
}

std::vector<std::string> expand_chromium_flags(const std::vector<std::string>& arguments,
                                               const std::vector<std::string>& flags) {
  auto const words = to_shell_words(flags);
  std::vector<std::string> expanded;
  for (std::string argument : arguments) {
    if (argument == kFlagsPlace) {
      expanded.insert(expanded.end(), flags.begin(), flags.end());
      continue;
    }
    for (auto at = argument.find(kFlagsPlace); at != std::string::npos;
         at = argument.find(kFlagsPlace, at + words.size())) {
      argument.replace(at, kFlagsPlace.size(), words);
    }
    expanded.push_back(std::move(argument));
  }
  return expanded;
}

}  // namespace reprise
