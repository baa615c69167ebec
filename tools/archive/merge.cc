#include "archive/edit/merge.h"

#include <cstdio>
#include <memory>

#include "base/text/counted.h"
#include "tools/archive/archive_commands.h"
#include "tools/archive/open.h"
#include "tools/commands.h"
#include "tools/process/command_line.h"

namespace reprise {
namespace {

struct MergeArguments {
  std::vector<std::filesystem::path> archives;
  std::filesystem::path output;
  std::string only;
  std::string duplicates = "keep";
  std::string sessions = "one";
};

Duplicates policy_called(const std::string& name) {
  if (name == "first") return Duplicates::kFirst;
  return name == "last" ? Duplicates::kLast : Duplicates::kKeep;
}

void print_parts(const std::vector<OpenArchive>& archives, const std::vector<MergedPart>& parts) {
  for (std::size_t i = 0; i < archives.size(); ++i) {
    auto const& part = parts[i];
    std::fprintf(stderr, "%s: %s", archives[i].path.c_str(),
                 counted(part.taken, "exchange").c_str());
    if (part.duplicates > 0) {
      std::fprintf(stderr, ", %llu skipped as duplicates",
                   static_cast<unsigned long long>(part.duplicates));
    }
    if (part.other_sessions > 0) {
      std::fprintf(stderr, ", %llu of other sessions skipped (--sessions separate keeps them)",
                   static_cast<unsigned long long>(part.other_sessions));
    }
    std::fprintf(stderr, "\n");
  }
}

int merge(const MergeArguments& arguments) {
  auto const filter = parse_filter(arguments.only);
  if (!filter) return kExitUsage;
  auto const duplicates = policy_called(arguments.duplicates);
  bool const is_separate = arguments.sessions == "separate";
  if (is_separate && duplicates != Duplicates::kKeep) {
    std::fprintf(stderr,
                 "reprise: --duplicates cannot be combined with --sessions separate, which keeps "
                 "all exchanges\n");
    return kExitUsage;
  }
  std::vector<OpenArchive> archives;
  std::vector<const ArchiveReader*> readers;
  for (auto const& path : arguments.archives) {
    auto archive = open_with_remarks(path);
    if (!archive) return kExitArchive;
    readers.push_back(archive->reader.get());
    archives.push_back(std::move(*archive));
  }
  auto to = NewArchive::make(arguments.output);
  if (!to) return kExitArchive;
  MergeOptions const options{.duplicates = duplicates,
                             .separate_sessions = is_separate,
                             .only = [&](const Exchange& exchange, std::size_t number) {
                               return filter->takes(exchange, number);
                             }};
  auto const parts = merge_archives(readers, options, to->writer());
  if (!parts) {
    auto const& [code, index] = parts.error();
    auto const& input = archives[index];
    bool const is_input = code == archive_errc::corrupt ||
                          (code == archive_errc::too_large && input.reader->report().facts_ignored);
    return say_unusable(is_input ? input.path : to->path(), code);
  }
  auto const count = to->writer().exchange_count();
  if (auto const exit_code = to->finish(); exit_code != kExitDone) return exit_code;
  print_parts(archives, *parts);
  std::fprintf(stderr, "merged %s: %s\n", arguments.output.c_str(),
               counted(count, "exchange").c_str());
  return kExitDone;
}

}  // namespace

void add_merge_command(CLI::App& archive, int& exit_code) {
  auto const arguments = std::make_shared<MergeArguments>();
  auto* const command = add_command(
      archive, "merge",
      "Merge several archives into one, whose replay answers what each of them answers");
  command->add_option("ARCHIVE", arguments->archives, "Archives to merge, the most important first")
      ->required();
  command->add_option("-o", arguments->output, "Archive to write; it must not exist")->required();
  command
      ->add_option("--sessions", arguments->sessions,
                   "one: merge the sessions that replays would serve into that of the first "
                   "archive; separate: keep all sessions, of which a replay serves one [one]")
      ->check(CLI::IsMember({"one", "separate"}));
  command
      ->add_option("--duplicates", arguments->duplicates,
                   "For requests in several archives: keep all responses, in the order of the "
                   "archives, or only those of the first or last archive [keep]")
      ->check(CLI::IsMember({"keep", "first", "last"}));
  command->add_option("--only", arguments->only, "Merge only exchanges that match FILTER");
  command->footer(kFilterHelp);
  command->callback([arguments, &exit_code] { exit_code = merge(*arguments); });
}

}  // namespace reprise
