#include "tools/archive/import.h"

#include <unistd.h>
#include <CLI/CLI.hpp>

#include <boost/json.hpp>
#include <chrono>
#include <cstdio>
#include <memory>

#include "archive/import/import.h"
#include "base/text/printable.h"
#include "tools/commands.h"
#include "tools/process/interruption.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;
using importing::Fault;
using importing::Importer;
using importing::ImportReport;

struct ImportArguments {
  std::vector<fs::path> recordings;
  fs::path archive;
  bool keep_going = false;
  bool for_this_run = false;  ///< nobody sees the archive
  bool json = false;
};

/// Says how far it is once it takes longer than two seconds: a live line on a terminal, a line
/// every tenth elsewhere.
class ImportProgress {
 public:
  explicit ImportProgress(std::uint64_t total_bytes)
      : total_bytes_(total_bytes), is_terminal_(::isatty(STDERR_FILENO) == 1) {}
  ~ImportProgress() { clear(); }
  ImportProgress(const ImportProgress&) = delete;
  ImportProgress& operator=(const ImportProgress&) = delete;

  /// Takes the live line away, before another is printed.
  void clear() const {
    if (is_terminal_ && shown_percent_ > 0) std::fprintf(stderr, "\r\033[K");
  }
  void add(std::uint64_t bytes) {
    done_bytes_ += bytes;
    if (total_bytes_ == 0) return;
    auto const percent = static_cast<unsigned>(static_cast<double>(done_bytes_) * 100.0 /
                                               static_cast<double>(total_bytes_));
    if (percent < shown_percent_ + (is_terminal_ ? 1 : 10)) return;
    if (std::chrono::steady_clock::now() - started_ < std::chrono::seconds(2)) return;
    shown_percent_ = percent;
    std::fprintf(stderr, is_terminal_ ? "\rimported %u %%" : "imported %u %%\n", percent);
  }

 private:
  std::uint64_t total_bytes_;
  bool is_terminal_;
  std::uint64_t done_bytes_ = 0;
  unsigned shown_percent_ = 0;
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
};

struct Count {
  const char* name;  ///< in the JSON
  std::uint64_t ImportReport::* member;
  const char* text;  ///< for people, when it is not zero
};

constexpr Count kCounts[] = {
    {"exchanges", &ImportReport::exchanges, nullptr},
    {"bodies", &ImportReport::bodies, nullptr},
    {"request_bodies", &ImportReport::request_bodies, "requests with a body"},
    {"incomplete", &ImportReport::incomplete,
     "responses are not whole in the recording: replayed as far as they go, then broken off"},
    {"failed", &ImportReport::failed, "requests got no response"},
    {"unknown_version", &ImportReport::unknown_version,
     "responses of an HTTP version that is not known: replay will assume one"},
    {"coded", &ImportReport::coded, "bodies with a content coding"},
    {"codings_dropped", &ImportReport::codings_dropped,
     "bodies are not coded as their Content-Encoding says: it was left out"},
    {"codings_broken", &ImportReport::codings_broken, "coded bodies break before their end"},
    {"statuses_assumed", &ImportReport::statuses_assumed,
     "responses without a status, from a browser's cache: taken for 200"},
    {"damaged", &ImportReport::damaged, "places where the recording is damaged"},
    {"lengths_corrected", &ImportReport::lengths_corrected,
     "Content-Lengths were not those of the bodies: corrected"},
    {"bodies_dropped", &ImportReport::bodies_dropped,
     "bodies of responses that have none (304, 204, HEAD): left out"},
    {"fields_dropped", &ImportReport::fields_dropped,
     "header fields that cannot have been sent: left out"},
    {"revisits", &ImportReport::revisits, "records that point at a body elsewhere"},
    {"revisits_resolved", &ImportReport::revisits_resolved, "of which it was found"},
    {"requests_alone", &ImportReport::requests_alone, "requests without a response: left out"},
    {"not_http", &ImportReport::not_http, "records that are no HTTP exchange: left out"},
    {"messages", &ImportReport::messages, "WebSocket messages"},
    {"websocket_messages", &ImportReport::websocket_messages,
     "WebSocket messages that cannot be read, or are too many: left out"},
    {"too_large", &ImportReport::too_large, "exchanges too large for an archive: left out"},
    {"more_remarks", &ImportReport::more_remarks, "more remarks"},
};

void print_remarks(const ImportReport& report) {
  for (auto const& remark : report.remarks) {
    std::fprintf(stderr, "reprise: %s\n", printable(remark).c_str());
  }
}

void print_report(const ImportArguments& arguments, const ImportReport& report) {
  if (arguments.json) {
    boost::json::object out;
    for (const Count& count : kCounts) out[count.name] = report.*count.member;
    boost::json::array remarks;
    for (auto const& remark : report.remarks) remarks.emplace_back(as_utf8(remark));
    out["remarks"] = std::move(remarks);
    std::printf("%s\n", boost::json::serialize(out).c_str());
    return;
  }
  print_remarks(report);
  auto const& name = arguments.for_this_run ? arguments.recordings.front() : arguments.archive;
  std::fprintf(stderr, "imported %s: %llu exchanges, %llu with a body\n", name.c_str(),
               static_cast<unsigned long long>(report.exchanges),
               static_cast<unsigned long long>(report.bodies));
  for (const Count& count : kCounts) {
    if (count.text == nullptr || report.*count.member == 0) continue;
    std::fprintf(stderr, "  %llu %s\n", static_cast<unsigned long long>(report.*count.member),
                 count.text);
  }
}

void print_fault(const fs::path& recording, const Fault& fault) {
  auto text = recording.string() + ": " + fault.what;
  if (fault.system) text += (fault.what.empty() ? "" : ": ") + fault.system.message();
  std::fprintf(stderr, "reprise: %s\n", printable(text).c_str());
}

/// Reads all recordings. False when one of them could not be read to its end, which ends the import
/// unless the user wants what there is.
bool read_all(const ImportArguments& arguments, Importer& importer) {
  std::uint64_t total_bytes = 0;
  for (auto const& recording : arguments.recordings) {
    total_bytes += importing::bytes_to_read(recording);
  }
  ImportProgress progress(total_bytes);
  bool all = true;
  for (auto const& recording : arguments.recordings) {
    auto const fault =
        importer.read_path(recording, [&progress](std::uint64_t bytes) { progress.add(bytes); });
    if (!fault) continue;
    progress.clear();
    if (Interruption::was_asked()) return false;
    print_fault(recording, *fault);
    all = false;
    if (arguments.keep_going) continue;
    if (fault->is_damage) {
      std::fprintf(stderr,
                   "reprise: nothing was imported; %s--keep-going imports what can be read\n",
                   arguments.for_this_run ? "reprise archive import " : "");
    }
    return false;
  }
  return all;
}

/// Was asked to stop: keeps what was read, in a session that did not come to its end.
int end_early(const ImportArguments& arguments, Importer& importer, ArchiveWriter& writer) {
  auto fault = importer.finish();
  if (auto const closed = writer.close(); !closed) {
    fault = Fault{.what = "cannot be written", .system = closed.error()};
  }
  if (fault) print_fault(arguments.archive, *fault);
  print_report(arguments, importer.report());
  std::fprintf(stderr, "reprise: stopped: %s holds what was read until then\n",
               arguments.archive.c_str());
  return Interruption::exit_code();
}

int import_all(const ImportArguments& arguments) {
  Interruption const interruption;
  auto writer = ArchiveWriter::create(arguments.archive, {});
  if (!writer) {
    auto const exists = writer.error() == archive_errc::already_exists;
    print_fault(arguments.archive,
                {.what = exists ? "exists already; name another file" : "cannot be made",
                 .system = exists ? std::error_code() : writer.error()});
    return kExitArchive;
  }
  importing::ArchiveSink sink(**writer);
  Importer importer(sink, arguments.keep_going);
  importer.stop_when([] { return Interruption::was_asked(); });
  auto const all = read_all(arguments, importer);
  if (Interruption::was_asked() && arguments.for_this_run) return Interruption::exit_code();
  if (!all && Interruption::was_asked()) return end_early(arguments, importer, **writer);
  if (all || arguments.keep_going) {
    auto fault = importer.finish();
    if (!fault && all && importer.report().exchanges == 0) {
      print_remarks(importer.report());
      for (auto const& recording : arguments.recordings) {
        print_fault(recording, {.what = "it holds no exchange", .system = {}});
      }
      fault = Fault{.what = "not written, as it would be empty", .system = {}};
    }
    if (!fault && importer.report().exchanges > 0) {
      auto ended = (*writer)->end_session();
      if (ended) ended = (*writer)->close();
      if (ended) {
        print_report(arguments, importer.report());
        return all ? kExitDone : kExitArchive;
      }
      fault = Fault{.what = "cannot be written", .system = ended.error()};
    }
    if (fault) print_fault(arguments.archive, *fault);
  }
  ::unlink(arguments.archive.c_str());
  return kExitArchive;
}

}  // namespace

int import_recording(const fs::path& recording, const fs::path& archive) {
  return import_all({.recordings = {recording}, .archive = archive, .for_this_run = true});
}

void add_import_command(CLI::App& archive, int& exit_code) {
  auto const arguments = std::make_shared<ImportArguments>();
  auto* const command = archive.add_subcommand(
      "import",
      "make an archive from recordings of other tools (.wprgo, HAR, WARC, ARC, WACZ, "
      "mahimahi, mitmproxy), told apart by their content");
  command->add_option("FILE", arguments->recordings, "the recordings, which become one session")
      ->required();
  command->add_option("-o", arguments->archive, "the archive to write; it must not exist")
      ->required();
  command->add_flag("--keep-going", arguments->keep_going,
                    "keep what could be read of a damaged recording");
  command->add_flag("--json", arguments->json, "print what was found as JSON");
  command->callback([arguments, &exit_code] { exit_code = import_all(*arguments); });
}

}  // namespace reprise
