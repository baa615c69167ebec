#include <cstdio>
#include <fstream>
#include <memory>
#include <optional>

#include <boost/json.hpp>

#include "archive/record.h"
#include "archive/repair.h"
#include "tools/archive_errors.h"
#include "tools/archive_import.h"
#include "tools/archive_text.h"
#include "tools/archive_views.h"
#include "tools/commands.h"

namespace reprise {
namespace {

struct Arguments {
  std::filesystem::path archive;
  std::size_t number = 0;
  bool json = false;
  bool of_request = false;
  bool no_backup = false;
};

/// Owned by the callbacks, which outlive the function that adds them.
using SharedArguments = std::shared_ptr<Arguments>;

int fail_with(const std::string& text) {
  std::fprintf(stderr, "reprise: %s\n", text.c_str());
  return kExitArchive;
}

/// The message for an archive that does not open; of a newer one it names the format.
std::string open_error_text(const std::filesystem::path& path, std::error_code error) {
  if (error != archive_errc::newer_version) return archive_error_text(path, error);
  std::array<std::byte, kFileHeaderBytes> header{};
  std::ifstream(path, std::ios::binary)
      .read(reinterpret_cast<char*>(header.data()), static_cast<std::streamsize>(header.size()));
  return path.string() + ": written by a newer reprise (format " +
         std::to_string(load_u32(header.data() + 8)) + ", this one reads " +
         std::to_string(kFormatVersion) + "): update reprise";
}

std::optional<OpenArchive> open_archive(const std::filesystem::path& path) {
  auto reader = ArchiveReader::open(path, {});
  if (!reader) {
    fail_with(open_error_text(path, reader.error()));
    return std::nullopt;
  }
  return OpenArchive{.path = path, .reader = std::move(*reader)};
}

void print_remarks(const OpenArchive& archive) {
  auto const& remarks = archive.reader->report().remarks;
  for (auto const& remark : remarks) {
    std::fprintf(stderr, "reprise: %s: %s\n", archive.path.c_str(), remark.c_str());
  }
  if (!remarks.empty()) {
    std::fprintf(stderr, "reprise: `reprise archive repair %s` rewrites what is whole\n",
                 archive.path.c_str());
  }
}

int repair(const Arguments& arguments) {
  auto const report = repair_archive(arguments.archive, !arguments.no_backup);
  if (!report && report.error() == archive_errc::already_exists) {
    return fail_with(arguments.archive.string() +
                     ".bak: exists already; move it away, or use --no-backup");
  }
  if (!report) return fail_with(open_error_text(arguments.archive, report.error()));
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
  std::printf("%s: %llu exchanges kept, %llu lost; %llu bytes, were %llu%s%s\n",
              arguments.archive.c_str(), static_cast<unsigned long long>(report->exchanges_kept),
              static_cast<unsigned long long>(report->exchanges_lost),
              static_cast<unsigned long long>(report->bytes_after),
              static_cast<unsigned long long>(report->bytes_before),
              report->backup_path.empty() ? "" : "; the original is ", report->backup_path.c_str());
  return kExitDone;
}

/// `exit_code` unless what was printed did not arrive.
int after_output(int exit_code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return exit_code;
  std::perror("reprise: cannot write the output");
  return exit_code == kExitDone ? kExitFailed : exit_code;
}

/// Adds one subcommand that reads an archive through `view`.
template <class View>
CLI::App* add_view(CLI::App& to, const char* name, const char* what, SharedArguments arguments,
                   int& exit_code, View view) {
  auto* const command = to.add_subcommand(name, what);
  command->add_option("ARCHIVE", arguments->archive, "the file")->required();
  command->callback([arguments, &exit_code, view] {
    auto const archive = open_archive(arguments->archive);
    exit_code = archive ? after_output(view(*archive, *arguments)) : kExitArchive;
  });
  return command;
}

void add_json_flag(CLI::App* command, const SharedArguments& arguments) {
  command->add_flag("--json", arguments->json, "print JSON");
}

void add_number(CLI::App* command, const SharedArguments& arguments) {
  command->add_option("N", arguments->number, "the exchange's number in `ls`")
      ->required()
      ->check(CLI::PositiveNumber);
}

void add_views(CLI::App& archive, const SharedArguments& arguments, int& exit_code) {
  add_json_flag(add_view(archive, "ls", "one line an exchange", arguments, exit_code,
                         [](const OpenArchive& from, const Arguments& given) {
                           print_remarks(from);
                           return list_exchanges(from, given.json);
                         }),
                arguments);
  auto* const show = add_view(archive, "show", "all about one exchange", arguments, exit_code,
                              [](const OpenArchive& from, const Arguments& given) {
                                return show_exchange(from, given.number, given.json);
                              });
  add_number(show, arguments);
  add_json_flag(show, arguments);
  auto* const cat =
      add_view(archive, "cat", "the body of one response, exactly as it was sent", arguments,
               exit_code, [](const OpenArchive& from, const Arguments& given) {
                 return cat_body(from, given.number, given.of_request);
               });
  add_number(cat, arguments);
  cat->add_flag("--request", arguments->of_request, "the request's body instead");
  add_json_flag(add_view(archive, "stats", "hosts, types, statuses, bytes", arguments, exit_code,
                         [](const OpenArchive& from, const Arguments& given) {
                           print_remarks(from);
                           return print_statistics(from, given.json);
                         }),
                arguments);
  add_json_flag(
      add_view(archive, "verify", "check every record and every body", arguments, exit_code,
               [](const OpenArchive& from, const Arguments& given) {
                 return verify_archive(from, given.json);
               }),
      arguments);
}

}  // namespace

void add_archive_command(CLI::App& app, int& exit_code) {
  auto* const archive = app.add_subcommand(
      "archive",
      "Looks into an archive, checks it, repairs it; makes one of other tools' recordings");
  archive->require_subcommand(1);
  auto const arguments = std::make_shared<Arguments>();
  add_views(*archive, arguments, exit_code);
  add_import_command(*archive, exit_code);
  auto* const command =
      archive->add_subcommand("repair", "rewrite what is whole, also to close an unclosed file");
  command->add_option("ARCHIVE", arguments->archive, "the file")->required();
  command->add_flag("--no-backup", arguments->no_backup, "do not keep the original as FILE.bak");
  add_json_flag(command, arguments);
  command->callback([arguments, &exit_code] { exit_code = after_output(repair(*arguments)); });
}

}  // namespace reprise
