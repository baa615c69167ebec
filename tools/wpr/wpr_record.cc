#include "tools/wpr/wpr_record.h"

#include <cstdio>
#include <filesystem>

#include "archive/export/export.h"
#include "archive/open_file.h"
#include "tools/archive/errors.h"
#include "tools/commands.h"
#include "tools/record/record_command.h"
#include "tools/wpr/wpr_serving.h"

namespace reprise::wpr {
namespace {

namespace fs = std::filesystem;

/// Callers kill the recorder a second after they have asked it to exit, so what compression may
/// cost depends on how much there is to compress.
constexpr std::uint64_t kUsualBytesMax = 6 << 20;
constexpr std::uint64_t kHuffmanBytesMax = 24 << 20;

exporting::Effort effort_for(std::uint64_t bytes) {
  if (bytes <= kUsualBytesMax) return exporting::Effort::kUsual;
  return bytes <= kHuffmanBytesMax ? exporting::Effort::kHuffman : exporting::Effort::kNone;
}

/// The time that the scripts of the recording started from: a replay must start there, too.
std::optional<std::chrono::milliseconds> time_seed_of(const ArchiveReader& archive,
                                                      std::uint32_t session) {
  for (const SessionInfo& info : archive.sessions()) {
    if (info.number == session && info.injected_clock) return info.injected_clock->start;
  }
  return std::nullopt;
}

/// Writes the recording's last session as a .wprgo. Returns the problem, or nothing.
std::string write_wprgo(const fs::path& recording, const fs::path& to) {
  auto const archive = ArchiveReader::open(recording, {});
  if (!archive) return archive_error_text(recording, archive.error());
  auto file = create_private_file(to);
  if (!file) return to.string() + ": " + file.error().message();
  auto const session = exporting::choose_session(**archive, 0);
  exporting::FileOutput out(std::move(*file));
  exporting::ExportReport report;
  auto const fault = exporting::export_session(**archive, exporting::Target::kWprgo,
                                               {.session = session,
                                                .effort = effort_for((*archive)->size_bytes()),
                                                .answered_only = true,
                                                .time_seed = time_seed_of(**archive, session)},
                                               out, report);
  if (!fault) return {};
  return to.string() + ": " + (fault->system ? fault->system.message() : fault->what);
}

/// Replaces `archive` by what was recorded. Nothing is lost if that fails.
int convert(const fs::path& recording, const fs::path& archive) {
  auto incomplete = archive;
  incomplete += ".new";
  std::error_code error;
  fs::remove(incomplete, error);
  auto problem = write_wprgo(recording, incomplete);
  if (problem.empty()) {
    fs::rename(incomplete, archive, error);
    if (error) problem = archive.string() + ": " + error.message();
  }
  if (problem.empty()) {
    fs::remove(recording, error);
    return kExitDone;
  }
  fs::remove(incomplete, error);
  say_error(problem + ". The recording is in " + recording.string());
  return kExitFailed;
}

}  // namespace

int record_as_wpr(const CommandLine& line) {
  auto serving = serving_options(line.flags);
  if (!serving) {
    say_error(serving.error());
    return kExitFailed;
  }
  fs::path const archive = line.archive;
  bool const is_ours = archive.extension() == ".reprise";
  RecordOptions options;
  options.output = is_ours ? archive : fs::path(line.archive + ".reprise");
  std::error_code error;
  fs::remove(options.output, error);
  if (error) {
    say_error(options.output.string() + ": " + error.message());
    return kExitFailed;
  }
  std::fprintf(stderr, "reprise: the certificates of origins are not verified\n");
  options.insecure_origin = true;
  options.injection = injection_options(line.flags);
  options.serving = std::move(*serving);
  if (int const code = record(options, {}); code != kExitDone) return code;
  return is_ours ? int{kExitDone} : convert(options.output, archive);
}

}  // namespace reprise::wpr
