#include <cstdio>
#include <memory>

#include "archive/edit/select.h"
#include "base/text/counted.h"
#include "tools/archive/archive_commands.h"
#include "tools/archive/open.h"
#include "tools/commands.h"
#include "tools/process/command_line.h"

namespace reprise {
namespace {

struct TrimArguments {
  std::filesystem::path archive;
  std::filesystem::path output;
  std::string keep;
  std::string drop;
};

int trim(const TrimArguments& arguments, bool keeps) {
  auto const filter = parse_filter(keeps ? arguments.keep : arguments.drop);
  if (!filter) return kExitUsage;
  auto const from = open_with_remarks(arguments.archive);
  if (!from) return kExitArchive;
  auto const selection = ExchangeSelection::make(
      *from->reader, [&](const Exchange& exchange, std::uint32_t /*ordinal*/, std::size_t number) {
        return filter->takes(exchange, number) == keeps;
      });
  if (!selection) return say_unusable(from->path, selection.error());
  auto const matched = keeps ? selection->count() : selection->left_out();
  if (matched == 0) {
    std::fprintf(stderr, "reprise: no exchange of %s matches the filter: nothing was written\n",
                 arguments.archive.c_str());
    return kExitFailed;
  }
  auto to = NewArchive::make(arguments.output);
  if (!to) return kExitArchive;
  auto const copied = SelectedCopy(*from->reader, *selection, to->writer()).run();
  if (!copied) {
    auto const is_source =
        copied.error() == archive_errc::corrupt || from->reader->report().facts_ignored;
    return say_unusable(is_source ? from->path : to->path(), copied.error());
  }
  if (auto const exit_code = to->finish(); exit_code != kExitDone) return exit_code;
  std::fprintf(stderr, "trimmed %s: %s kept, %zu dropped\n", arguments.output.c_str(),
               counted(selection->count(), "exchange").c_str(), selection->left_out());
  return kExitDone;
}

}  // namespace

void add_trim_command(CLI::App& archive, int& exit_code) {
  auto const arguments = std::make_shared<TrimArguments>();
  auto* const command = add_command(
      archive, "trim",
      "Copy some exchanges of an archive, with their connections and DNS answers, into a new one");
  command->add_option("ARCHIVE", arguments->archive, "Archive to read")->required();
  command->add_option("-o", arguments->output, "Archive to write; it must not exist")->required();
  auto* const which = add_group(*command, "which");
  auto* const keep =
      which->add_option("--keep", arguments->keep, "Keep exchanges that match FILTER");
  which->add_option("--drop", arguments->drop, "Drop exchanges that match FILTER");
  which->require_option(1);
  command->footer(kFilterHelp);
  command->callback(
      [arguments, keep, &exit_code] { exit_code = trim(*arguments, keep->count() > 0); });
}

}  // namespace reprise
