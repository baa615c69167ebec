#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include <boost/json.hpp>

#include "archive/repair.h"
#include "base/text/counted.h"
#include "base/text/printable.h"
#include "tools/archive/archive_commands.h"
#include "tools/archive/content_sums.h"
#include "tools/archive/export.h"
#include "tools/archive/import.h"
#include "tools/archive/open.h"
#include "tools/archive/views.h"
#include "tools/commands.h"
#include "tools/partials/engine_lines.h"
#include "tools/process/command_line.h"

namespace reprise {
namespace {

struct ArchiveArguments {
  std::filesystem::path archive;
  std::size_t number = 0;
  bool json = false;
  CatOptions cat;
  bool no_backup = false;
  std::vector<std::string> filter;  ///< its words
  std::vector<std::filesystem::path> inputs;
  bool partial = false;
  bool merge = false;
};

/// Owned by the callbacks, which outlive the function that adds them.
using SharedArguments = std::shared_ptr<ArchiveArguments>;

/// "2 lost".
std::string lost_text(const RepairReport& report) {
  if (!report.more_may_be_lost) return std::to_string(report.exchanges_lost) + " lost";
  if (report.exchanges_lost == 0) return "an unknown number lost";
  return "at least " + std::to_string(report.exchanges_lost) + " lost";
}

void print_json(const RepairReport& report) {
  boost::json::array remarks;
  for (auto const& remark : report.remarks) remarks.emplace_back(as_utf8(remark));
  boost::json::value const backup = report.backup_path.empty()
                                        ? boost::json::value()
                                        : boost::json::value(report.backup_path.string());
  boost::json::object const out = {{"exchanges_kept", report.exchanges_kept},
                                   {"exchanges_lost", report.exchanges_lost},
                                   {"more_may_be_lost", report.more_may_be_lost},
                                   {"bytes_before", report.bytes_before},
                                   {"bytes_after", report.bytes_after},
                                   {"backup", backup},
                                   {"remarks", remarks}};
  std::printf("%s\n", boost::json::serialize(out).c_str());
}

int repair(const ArchiveArguments& arguments) {
  auto const report = repair_archive(arguments.archive, !arguments.no_backup);
  if (!report && report.error() == archive_errc::already_exists) {
    std::error_code error;  // of a symbolic link the backup is beside its target
    auto const file = std::filesystem::is_symlink(arguments.archive, error)
                          ? std::filesystem::canonical(arguments.archive, error)
                          : arguments.archive;
    std::fprintf(stderr, "reprise: %s.bak already exists. Move it away, or use --no-backup\n",
                 file.c_str());
    return kExitArchive;
  }
  if (!report) return say_unusable(arguments.archive, report.error());
  if (arguments.json) {
    print_json(*report);
    return kExitDone;
  }
  for (auto const& remark : report->remarks) std::printf("%s\n", printable(remark).c_str());
  std::printf("%s: %s kept, %s; %s, before %llu%s%s\n", arguments.archive.c_str(),
              counted(report->exchanges_kept, "exchange").c_str(), lost_text(*report).c_str(),
              counted(report->bytes_after, "byte").c_str(),
              static_cast<unsigned long long>(report->bytes_before),
              report->backup_path.empty() ? "" : "; the original is now ",
              report->backup_path.c_str());
  return kExitDone;
}

/// `ls` of an archive or of a folder.
int list_given(const ArchiveArguments& arguments) {
  std::error_code ignored;
  bool const folder = std::filesystem::is_directory(arguments.archive, ignored);
  auto const archive = folder ? std::nullopt : open_or_say(arguments.archive);
  if (!folder && !archive) return kExitArchive;
  auto const filter = parse_filter(CLI::detail::join(arguments.filter, " "));
  if (!filter) return kExitUsage;
  if (folder) return list_corpus(arguments.archive, *filter, arguments.json);
  print_remarks(*archive);
  return list_exchanges(*archive, *filter, arguments.json);
}

/// Adds one subcommand that reads an archive through `view`.
template <class View>
CLI::App* add_view(CLI::App& to, const char* name, const char* what, SharedArguments arguments,
                   int& exit_code, View view) {
  auto* const command = add_command(to, name, what);
  command->add_option("ARCHIVE", arguments->archive, "Archive to read")->required();
  command->callback([arguments, &exit_code, view] {
    auto const archive = open_or_say(arguments->archive);
    exit_code = archive ? view(*archive, *arguments) : kExitArchive;
  });
  return command;
}

void add_json_flag(CLI::App* command, const SharedArguments& arguments) {
  command->add_flag("--json", arguments->json, "Print JSON");
}

void add_number(CLI::App* command, const SharedArguments& arguments) {
  command->add_option("N", arguments->number, "Number of the exchange in `ls`")
      ->required()
      ->check(whole_numbers_from(1));
}

int statistics_of(const ArchiveArguments& arguments) {
  auto const& inputs = arguments.inputs;
  if (arguments.merge) return merge_partials("archive stats", inputs);
  if (arguments.partial) return write_partial_statistics(inputs);
  if (inputs.empty()) {
    std::fputs("reprise: archive stats: give an archive, or a folder of archives\n", stderr);
    return kExitUsage;
  }
  std::error_code ignored;
  bool const sums = inputs.size() > 1 || std::filesystem::is_directory(inputs[0], ignored) ||
                    ContentSums::is_key(first_key_of(inputs[0]));
  if (sums) return print_sums(inputs, arguments.json);
  auto const archive = open_with_remarks(inputs[0]);
  return archive ? print_statistics(*archive, arguments.json) : kExitArchive;
}

void add_statistics(CLI::App& archive, const SharedArguments& arguments, int& exit_code) {
  auto* const stats =
      add_command(archive, "stats", "Print numbers of hosts, types, statuses and bytes");
  stats->add_option("ARCHIVE", arguments->inputs,
                    "Archives, folders of archives, or partial results, which are added up");
  auto* const partial =
      stats->add_flag("--partial", arguments->partial,
                      "For engines: print sums that --merge adds up; without ARCHIVE, of the "
                      "archives that standard input names, one per line");
  stats->add_flag("--merge", arguments->merge, "For engines: add up sorted lines of --partial")
      ->excludes(partial);
  add_json_flag(stats, arguments);
  stats->callback([arguments, &exit_code] { exit_code = statistics_of(*arguments); });
}

void add_views(CLI::App& archive, const SharedArguments& arguments, int& exit_code) {
  auto* const list = add_command(archive, "ls", "List the exchanges, one per line");
  list->add_option("ARCHIVE", arguments->archive, "Archive to read, or a folder of archives")
      ->required();
  list->add_option("FILTER", arguments->filter, "Which exchanges to list [all]");
  list->callback([arguments, &exit_code] { exit_code = list_given(*arguments); });
  list->footer(kFilterHelp);
  add_json_flag(list, arguments);
  auto* const show = add_view(archive, "show", "Show one exchange in full", arguments, exit_code,
                              [](const OpenArchive& from, const ArchiveArguments& given) {
                                return show_exchange(from, given.number, given.json);
                              });
  add_number(show, arguments);
  add_json_flag(show, arguments);
  auto* const cat =
      add_view(archive, "cat", "Print the body of one response, as sent or decoded", arguments,
               exit_code, [](const OpenArchive& from, const ArchiveArguments& given) {
                 return cat_part(from, given.number, given.cat);
               });
  add_number(cat, arguments);
  auto* const of_request =
      cat->add_flag("--request", arguments->cat.of_request, "Print the request's body instead");
  auto* const decoded =
      cat->add_flag("--decoded", arguments->cat.decoded, "Remove the content coding");
  cat->add_flag("--messages", arguments->cat.messages,
                "Print the WebSocket messages, one line of JSON per message")
      ->excludes("--request", "--decoded");
  cat->add_flag("--head", arguments->cat.head,
                "Print the response's head, in the form that `edit --headers` reads")
      ->excludes(decoded)
      ->excludes(of_request);
  add_statistics(archive, arguments, exit_code);
  add_json_flag(
      add_view(archive, "verify", "Check every record and every body", arguments, exit_code,
               [](const OpenArchive& from, const ArchiveArguments& given) {
                 return verify_archive(from, given.json);
               }),
      arguments);
}

}  // namespace

void add_archive_command(CLI::App& app, int& exit_code) {
  auto* const archive =
      add_command(app, "archive", "Inspect, check, repair, change, import and export archives");
  archive->require_subcommand(1);
  auto const arguments = std::make_shared<ArchiveArguments>();
  add_views(*archive, arguments, exit_code);
  add_trim_command(*archive, exit_code);
  add_merge_command(*archive, exit_code);
  add_edit_command(*archive, exit_code);
  add_diff_command(*archive, exit_code);
  add_redact_command(*archive, exit_code);
  add_add_command(*archive, exit_code);
  add_import_command(*archive, exit_code);
  add_export_command(*archive, exit_code);
  auto* const command =
      add_command(*archive, "repair",
                  "Rewrite an archive without its damaged parts, and close an unclosed one");
  command->add_option("ARCHIVE", arguments->archive, "Archive to read")->required();
  command->add_flag("--no-backup", arguments->no_backup, "Do not keep the original as FILE.bak");
  add_json_flag(command, arguments);
  command->callback([arguments, &exit_code] { exit_code = repair(*arguments); });
}

}  // namespace reprise
