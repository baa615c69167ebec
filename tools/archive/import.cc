#include "tools/archive/import.h"

#include <unistd.h>

#include <boost/json.hpp>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>

#include "archive/import/import.h"
#include "base/text/counted.h"
#include "base/text/printable.h"
#include "tools/archive/open.h"
#include "tools/commands.h"
#include "tools/process/command_line.h"
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
  bool for_this_run = false;  ///< a private archive for this run
  bool json = false;
};

/// Prints progress after two seconds: a live line on a terminal, otherwise one line per tenth.
class ImportProgress {
 public:
  explicit ImportProgress(std::uint64_t total_bytes)
      : total_bytes_(total_bytes), is_terminal_(::isatty(STDERR_FILENO) == 1) {}
  ~ImportProgress() { clear(); }
  ImportProgress(const ImportProgress&) = delete;
  ImportProgress& operator=(const ImportProgress&) = delete;

  /// Removes the live line, before another line is printed.
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
  const char* one;   ///< for users, after 1; null: not printed
  const char* many;  ///< after other numbers; 0 is not printed
};

constexpr Count kCounts[] = {
    {"exchanges", &ImportReport::exchanges, nullptr, nullptr},
    {"bodies", &ImportReport::bodies, nullptr, nullptr},
    {"request_bodies", &ImportReport::request_bodies, "request with a body",
     "requests with a body"},
    {"incomplete", &ImportReport::incomplete,
     "response is incomplete in the recording; a replay cuts it at the same place",
     "responses are incomplete in the recording; a replay cuts them at the same place"},
    {"failed", &ImportReport::failed, "request got no response", "requests got no response"},
    {"unknown_version", &ImportReport::unknown_version,
     "response has no known HTTP version; a replay assumes one",
     "responses have no known HTTP version; a replay assumes one"},
    {"coded", &ImportReport::coded, "body with a content coding", "bodies with a content coding"},
    {"codings_dropped", &ImportReport::codings_dropped,
     "body does not match its Content-Encoding, which was removed",
     "bodies do not match their Content-Encoding, which was removed"},
    {"codings_broken", &ImportReport::codings_broken, "encoded body ends too early",
     "encoded bodies end too early"},
    {"statuses_assumed", &ImportReport::statuses_assumed,
     "response from a browser's cache without a status; 200 is assumed",
     "responses from a browser's cache without a status; 200 is assumed"},
    {"damaged", &ImportReport::damaged, "damaged place in the recording",
     "damaged places in the recording"},
    {"lengths_corrected", &ImportReport::lengths_corrected,
     "Content-Length field did not match the body and was corrected",
     "Content-Length fields did not match the body and were corrected"},
    {"charsets_corrected", &ImportReport::charsets_corrected,
     "text is UTF-8 in the recording; its Content-Type was set to that",
     "texts are UTF-8 in the recording; their Content-Type was set to that"},
    {"bodies_dropped", &ImportReport::bodies_dropped,
     "body removed from a response that cannot have one (304, 204, HEAD)",
     "bodies removed from responses that cannot have one (304, 204, HEAD)"},
    {"fields_dropped", &ImportReport::fields_dropped, "header field removed: invalid in HTTP",
     "header fields removed: invalid in HTTP"},
    {"revisits", &ImportReport::revisits, "record refers to a body in another record",
     "records refer to a body in another record"},
    {"revisits_resolved", &ImportReport::revisits_resolved, "of these references was resolved",
     "of these references were resolved"},
    {"requests_alone", &ImportReport::requests_alone, "request skipped: no response",
     "requests skipped: no response"},
    {"not_http", &ImportReport::not_http, "record skipped: not an HTTP exchange",
     "records skipped: not an HTTP exchange"},
    {"messages", &ImportReport::messages, "WebSocket message", "WebSocket messages"},
    {"websocket_messages", &ImportReport::websocket_messages,
     "WebSocket message skipped: unreadable, too many, or of a WebSocket that was not opened",
     "WebSocket messages skipped: unreadable, too many, or of a WebSocket that was not opened"},
    {"too_large", &ImportReport::too_large, "exchange skipped: too large for an archive",
     "exchanges skipped: too large for an archive"},
    {"more_remarks", &ImportReport::more_remarks, "more remark", "more remarks"},
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
  std::fprintf(stderr, "imported %s: %s, %llu with a body\n", name.c_str(),
               counted(report.exchanges, "exchange").c_str(),
               static_cast<unsigned long long>(report.bodies));
  for (const Count& count : kCounts) {
    if (count.one == nullptr || report.*count.member == 0) continue;
    std::fprintf(stderr, "  %s\n", counted(report.*count.member, count.one, count.many).c_str());
  }
}

void print_fault(const fs::path& recording, const Fault& fault) {
  auto text = recording.string() + ": " + fault.what;
  if (fault.system) text += (fault.what.empty() ? "" : ": ") + fault.system.message();
  std::fprintf(stderr, "reprise: %s\n", printable(text).c_str());
}

enum class Reading : std::uint8_t {
  kAll,
  kSome,          ///< a recording could not be read to its end
  kOutputFailed,  ///< the archive cannot be written: the import ends even with `--keep-going`
};

/// Reads all recordings, to the first that cannot be read, unless `--keep-going`.
Reading read_all(const ImportArguments& arguments, Importer& importer) {
  std::uint64_t total_bytes = 0;
  for (auto const& recording : arguments.recordings) {
    total_bytes += importing::bytes_to_read(recording);
  }
  ImportProgress progress(total_bytes);
  auto reading = Reading::kAll;
  for (auto const& recording : arguments.recordings) {
    auto const fault =
        importer.read_path(recording, [&progress](std::uint64_t bytes) { progress.add(bytes); });
    if (!fault) continue;
    progress.clear();
    if (fault->is_output) {
      print_fault(arguments.archive, *fault);
      return Reading::kOutputFailed;
    }
    reading = Reading::kSome;
    if (Interruption::was_asked()) return reading;
    print_fault(recording, *fault);
    if (arguments.keep_going) continue;
    if (fault->is_damage) {
      std::fprintf(stderr,
                   "reprise: nothing was imported. Use %s--keep-going to import what can be read\n",
                   arguments.for_this_run ? "reprise archive import " : "");
    }
    return reading;
  }
  return reading;
}

/// After a request to stop: keeps the exchanges read so far, if any, in a session without an end.
int end_early(const ImportArguments& arguments, Importer& importer, ArchiveWriter& writer) {
  auto fault = importer.finish();
  if (auto const closed = writer.close(); !closed) {
    fault = Fault{.what = "cannot be written", .system = closed.error()};
  }
  if (fault) print_fault(arguments.archive, *fault);
  bool const is_empty = importer.report().exchanges == 0;
  if (is_empty) {
    print_remarks(importer.report());
    ::unlink(arguments.archive.c_str());
  } else {
    print_report(arguments, importer.report());
  }
  std::fprintf(
      stderr, "reprise: interrupted: %s %s\n", arguments.archive.c_str(),
      is_empty ? "was not written: nothing was read so far" : "contains what was read so far");
  return Interruption::exit_code();
}

int import_all(const ImportArguments& arguments) {
  Interruption const interruption;
  auto writer = ArchiveWriter::create(arguments.archive, {});
  if (!writer) {
    auto const exists = writer.error() == archive_errc::already_exists;
    print_fault(arguments.archive,
                {.what = exists ? "already exists; choose another file" : "cannot be created",
                 .system = exists ? std::error_code() : writer.error()});
    return kExitArchive;
  }
  importing::ArchiveSink sink(**writer);
  Importer importer(sink, arguments.keep_going);
  importer.stop_when([] { return Interruption::was_asked(); });
  auto const reading = read_all(arguments, importer);
  bool const all = reading == Reading::kAll;
  bool const failed = reading == Reading::kOutputFailed;
  if (Interruption::was_asked() && arguments.for_this_run) return Interruption::exit_code();
  if (reading == Reading::kSome && Interruption::was_asked()) {
    return end_early(arguments, importer, **writer);
  }
  if (!failed && (all || arguments.keep_going)) {
    auto fault = importer.finish();
    if (!fault && all && importer.report().exchanges == 0) {
      print_remarks(importer.report());
      for (auto const& recording : arguments.recordings) {
        print_fault(recording, {.what = "contains no exchange", .system = {}});
      }
      if (!arguments.for_this_run) {
        fault = Fault{.what = "not written: the archive would be empty", .system = {}};
      }
    }
    if (!fault && (importer.report().exchanges > 0 || (all && arguments.for_this_run))) {
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
  auto* const command = add_command(
      archive, "import",
      "Make an archive from recordings of other tools (.wprgo, HAR, WARC, ARC, WACZ, mahimahi, "
      "mitmproxy); the format is detected from the content");
  command->add_option("FILE", arguments->recordings, "Recordings; all of them become one session")
      ->required();
  command->add_option("-o", arguments->archive, "Archive to write; it must not exist")->required();
  command->add_flag("--keep-going", arguments->keep_going,
                    "Import what can be read of a damaged recording");
  command->add_flag("--json", arguments->json, "Print the counts and remarks as JSON");
  command->callback([arguments, &exit_code] { exit_code = import_all(*arguments); });
}

}  // namespace reprise
