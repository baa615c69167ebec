#include "tools/experiment/change_side.h"

#include <algorithm>

#include "base/system/json_file.h"
#include "tools/process/command_line.h"
#include "tools/process/say.h"

namespace reprise {

std::vector<std::string> load_words(const CLI::App& subcommand,
                                    const std::vector<std::string>& flags) {
  auto words = subcommand.remaining();
  if (flags.empty()) return words;
  words.emplace_back("--");
  words.insert(words.end(), flags.begin(), flags.end());
  return words;
}

std::filesystem::path archive_of(const std::vector<std::string>& words) {
  LoadOptions load;
  return parse_load_words(words, load) ? std::filesystem::path() : load.archive();
}

bool is_archive_kept(const std::vector<std::string>& words, const std::filesystem::path& folder,
                     const std::vector<std::string>& names) {
  if (folder.empty()) return true;
  auto const archive = archive_of(words);
  return std::ranges::all_of(names, [&](const std::string& name) {
    return are_different_files("ARCHIVE", {archive}, {{"-o", folder / name}});
  });
}

std::expected<ExperimentSide, CommandRefusal> try_side_with(
    std::vector<std::string> words, const std::vector<std::string>& what_ifs, std::uint64_t seed) {
  auto const flags = std::ranges::find(words, "--");
  std::vector<std::string> added;
  for (const std::string& text : what_ifs) added.push_back("--what-if=" + text);
  words.insert(flags, added.begin(), added.end());
  auto side = ExperimentSide::of_words(std::move(words));
  if (side) side->result().seed = seed;
  return side;
}

std::expected<ExperimentSide, int> side_with(std::vector<std::string> words,
                                             const std::vector<std::string>& what_ifs,
                                             std::uint64_t seed, const char* command) {
  auto side = try_side_with(std::move(words), what_ifs, seed);
  if (side) return std::move(*side);
  return std::unexpected(
      say(side.error().exit_code, std::string(command) + ": " + side.error().text));
}

}  // namespace reprise
