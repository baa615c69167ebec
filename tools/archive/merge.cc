#include "archive/edit/merge.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "tools/archive/archive_commands.h"
#include "tools/archive/open.h"
#include "tools/commands.h"

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
    std::fprintf(stderr, "%s: %llu exchanges", archives[i].path.c_str(),
                 static_cast<unsigned long long>(part.taken));
    if (part.duplicates > 0) {
      std::fprintf(stderr, ", %llu left out as duplicates",
                   static_cast<unsigned long long>(part.duplicates));
    }
    if (part.other_sessions > 0) {
      std::fprintf(stderr,
                   ", %llu left out since they are of other sessions (--sessions separate keeps "
                   "them)",
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
                 "reprise: --duplicates is about one session; with --sessions separate all stay\n");
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
  if (!parts && parts.error() == archive_errc::corrupt) {
    std::fprintf(stderr,
                 "reprise: one of the archives is damaged; `reprise archive verify` says which and "
                 "where\n");
    return kExitArchive;
  }
  if (!parts) return say_unusable(to->path(), parts.error());
  auto const count = to->writer().exchange_count();
  if (auto const exit_code = to->finish(); exit_code != kExitDone) return exit_code;
  print_parts(archives, *parts);
  std::fprintf(stderr, "merged %s: %llu exchanges\n", arguments.output.c_str(),
               static_cast<unsigned long long>(count));
  return kExitDone;
}

}  // namespace

void add_merge_command(CLI::App& archive, int& exit_code) {
  auto const arguments = std::make_shared<MergeArguments>();
  auto* const command = archive.add_subcommand(
      "merge", "make one archive of several, a replay of which answers what each would have");
  command->add_option("ARCHIVE", arguments->archives, "the files, the most important first")
      ->required();
  command->add_option("-o", arguments->output, "the archive to write; it must not exist")
      ->required();
  command
      ->add_option("--sessions", arguments->sessions,
                   "one: the session that a replay serves of each becomes part of that of the "
                   "first. separate: all stay sessions of their own, of which a replay serves one")
      ->check(CLI::IsMember({"one", "separate"}));
  command
      ->add_option("--duplicates", arguments->duplicates,
                   "of requests that several have: keep all, the first archive's responses first; "
                   "or those of the first, or the last archive only")
      ->check(CLI::IsMember({"keep", "first", "last"}));
  command->add_option("--only", arguments->only, "FILTER of what is taken");
  command->footer(kFilterHelp);
  command->callback([arguments, &exit_code] { exit_code = merge(*arguments); });
}

}  // namespace reprise
