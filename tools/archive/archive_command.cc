#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <boost/json.hpp>

#include "archive/repair.h"
#include "base/text/counted.h"
#include "base/text/printable.h"
#include "tools/archive/archive_commands.h"
#include "tools/archive/export.h"
#include "tools/archive/import.h"
#include "tools/archive/open.h"
#include "tools/archive/views.h"
#include "tools/commands.h"
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
};

/// Owned by the callbacks, which outlive the function that adds them.
using SharedArguments = std::shared_ptr<ArchiveArguments>;

int repair(const ArchiveArguments& arguments) {
  auto const report = repair_archive(arguments.archive, !arguments.no_backup);
  if (!report && report.error() == archive_errc::already_exists) {
    std::fprintf(stderr, "reprise: %s.bak already exists. Move it away, or use --no-backup\n",
                 arguments.archive.c_str());
    return kExitArchive;
  }
  if (!report) return say_unusable(arguments.archive, report.error());
  if (arguments.json) {
    boost::json::array remarks;
    for (auto const& remark : report->remarks) remarks.emplace_back(as_utf8(remark));
    boost::json::value const backup = report->backup_path.empty()
                                          ? boost::json::value()
                                          : boost::json::value(report->backup_path.string());
    boost::json::object const out = {{"exchanges_kept", report->exchanges_kept},
                                     {"exchanges_lost", report->exchanges_lost},
                                     {"bytes_before", report->bytes_before},
                                     {"bytes_after", report->bytes_after},
                                     {"backup", backup},
                                     {"remarks", remarks}};
    std::printf("%s\n", boost::json::serialize(out).c_str());
    return kExitDone;
  }
  for (auto const& remark : report->remarks) std::printf("%s\n", printable(remark).c_str());
  std::printf("%s: %s kept, %llu lost; %s, before %llu%s%s\n", arguments.archive.c_str(),
              counted(report->exchanges_kept, "exchange").c_str(),
              static_cast<unsigned long long>(report->exchanges_lost),
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
    exit_code = archive ? after_output(view(*archive, *arguments)) : kExitArchive;
  });
  return command;
}

void add_json_flag(CLI::App* command, const SharedArguments& arguments) {
  command->add_flag("--json", arguments->json, "Print JSON");
}

void add_number(CLI::App* command, const SharedArguments& arguments) {
  command->add_option("N", arguments->number, "Number of the exchange in `ls`")
      ->required()
      ->check(CLI::PositiveNumber);
}

void add_views(CLI::App& archive, const SharedArguments& arguments, int& exit_code) {
  auto* const list = add_command(archive, "ls", "List the exchanges, one per line");
  list->add_option("ARCHIVE", arguments->archive, "Archive to read, or a folder of archives")
      ->required();
  list->add_option("FILTER", arguments->filter, "Which exchanges to list [all]");
  list->callback([arguments, &exit_code] { exit_code = after_output(list_given(*arguments)); });
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
  add_json_flag(add_view(archive, "stats", "hosts, types, statuses, bytes", arguments, exit_code,
                         [](const OpenArchive& from, const ArchiveArguments& given) {
                           print_remarks(from);
                           return print_statistics(from, given.json);
                         }),
                arguments);
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
  command->callback([arguments, &exit_code] { exit_code = after_output(repair(*arguments)); });
}

}  // namespace reprise
