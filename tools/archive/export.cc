#include "tools/archive/export.h"

#include <unistd.h>

#include <boost/json.hpp>
#include <cstdio>
#include <memory>

#include "archive/export/export.h"
#include "archive/open_file.h"
#include "base/text/counted.h"
#include "base/text/printable.h"
#include "tools/archive/open.h"
#include "tools/commands.h"
#include "tools/process/command_line.h"
#include "tools/process/interruption.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;
using exporting::ExportReport;
using exporting::Target;

struct ExportArguments {
  fs::path archive;
  fs::path file;
  std::string target;
  std::uint32_t session = 0;
  bool gzip = false;
  bool json = false;
};

unsigned long long number(std::uint64_t value) {
  return value;
}

int fail_with(const std::string& text) {
  std::fprintf(stderr, "reprise: %s\n", printable(text).c_str());
  return kExitArchive;
}

void print_report(const ExportArguments& arguments, const ExportReport& report) {
  auto const texts = exporting::loss_texts();
  if (arguments.json) {
    boost::json::object lost;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      if (report.lost[i] > 0) lost[texts[i].name] = report.lost[i];
    }
    boost::json::object const out = {{"session", report.session},
                                     {"exchanges", report.exchanges},
                                     {"bodies", report.bodies},
                                     {"other_sessions", report.other_sessions},
                                     {"lost", std::move(lost)}};
    std::printf("%s\n", boost::json::serialize(out).c_str());
    return;
  }
  std::fprintf(stderr, "exported %s: %s, %llu with a body\n", arguments.file.c_str(),
               counted(report.exchanges, "exchange").c_str(), number(report.bodies));
  if (report.other_sessions > 0) {
    std::fprintf(stderr, "  only session %u; %llu more can be selected with --session\n",
                 report.session, number(report.other_sessions));
  }
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (report.lost[i] == 0) continue;
    std::fprintf(stderr, "  %s\n", counted(report.lost[i], texts[i].one, texts[i].many).c_str());
  }
}

Target target_of(const std::string& name) {
  if (name == "har") return Target::kHar;
  return name == "warc" ? Target::kWarc : Target::kWprgo;
}

int export_archive(const ExportArguments& arguments) {
  auto const archive = open_with_remarks(arguments.archive);
  if (!archive) return kExitArchive;
  Interruption const interruption;
  auto file = create_private_file(arguments.file);
  if (!file) {
    auto const exists = file.error() == archive_errc::already_exists;
    return fail_with(arguments.file.string() + ": " +
                     (exists ? "already exists; choose another file" : file.error().message()));
  }
  exporting::FileOutput out(std::move(*file));
  ExportReport report;
  exporting::ExportOptions const options{
      .session = arguments.session,
      .gzip = arguments.gzip || arguments.file.extension() == ".gz",
      .stop = [] { return Interruption::was_asked(); },
      .answered_only = true};
  auto const fault = exporting::export_session(*archive->reader, target_of(arguments.target),
                                               options, out, report);
  if (!fault) {
    print_report(arguments, report);
    return kExitDone;
  }
  // A partial file could be taken for a complete one.
  ::unlink(arguments.file.c_str());
  if (Interruption::was_asked()) {
    fail_with(arguments.file.string() + ": interrupted; the incomplete file was removed");
    return Interruption::exit_code();
  }
  if (fault->system) return fail_with(arguments.file.string() + ": " + fault->system.message());
  return fail_with(arguments.archive.string() + ": " + fault->what);
}

}  // namespace

void add_export_command(CLI::App& archive, int& exit_code) {
  auto const arguments = std::make_shared<ExportArguments>();
  auto* const command =
      add_command(archive, "export",
                  "Write a session in another tool's format, and list what the format cannot hold");
  command->add_option("ARCHIVE", arguments->archive, "Archive to read")->required();
  command
      ->add_option("--to", arguments->target,
                   "Format: har (1.2), warc (1.1) or wprgo (Web Page Replay)")
      ->required()
      ->check(CLI::IsMember({"har", "warc", "wprgo"}));
  command->add_option("-o", arguments->file, "File to write; it must not exist")->required();
  command->add_option("--session", arguments->session, "Recorded session to write [last complete]");
  command->add_flag("--gzip", arguments->gzip,
                    "Compress each WARC record [on if FILE ends in .gz]");
  command->add_flag("--json", arguments->json, "Print what was written and what was lost, as JSON");
  command->callback([arguments, &exit_code] { exit_code = export_archive(*arguments); });
}

}  // namespace reprise
