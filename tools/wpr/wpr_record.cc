#include "tools/wpr/wpr_record.h"

#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>

#include "archive/open_file.h"
#include "tools/archive/errors.h"
#include "tools/commands.h"
#include "tools/record/record_command.h"
#include "tools/wpr/wpr_serving.h"
#include "tools/wpr/wprgo_file.h"

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

/// Replaces `archive` by what was recorded. The recording is kept if that fails, or if a .wprgo
/// cannot hold all of it.
int convert(const fs::path& recording, const fs::path& archive) {
  std::error_code error;
  auto const bytes = fs::file_size(recording, error);
  auto const lost = write_wprgo(recording, archive, effort_for(error ? 0 : bytes));
  if (!lost) {
    say_error(lost.error() + ". The recording is in " + recording.string());
    return kExitFailed;
  }
  std::fprintf(stderr, "wrote %s\n", archive.c_str());
  if (lost->empty()) {
    fs::remove(recording, error);
  } else {
    print_kept(*lost, recording);
  }
  return kExitDone;
}

/// Renames the recording that an earlier recorder left at `path`, and prints the new name. False if
/// a recorder still writes it; that has been printed.
bool keep_older(const fs::path& path) {
  auto const older = open_regular_file(path, FileLock::kShared);
  if (!older && older.error() == std::errc::no_such_file_or_directory) return true;
  if (!older) {
    say_error(archive_error_text(path, older.error()));
    return false;
  }
  auto const kept = name_to_keep(fs::path(path).replace_extension());
  std::error_code error;
  fs::rename(path, kept, error);
  if (error) {
    say_error(path.string() + ": " + error.message());
    return false;
  }
  std::fprintf(stderr, "reprise: the recording that an earlier run left is now in %s\n",
               kept.c_str());
  return true;
}

}  // namespace

int record_as_wpr(const CommandLine& line) {
  auto serving = serving_options(line.flags);
  if (!serving) {
    say_error(serving.error());
    return kExitFailed;
  }
  fs::path const archive = line.archive;
  if (auto const problem = why_not_writable(archive); !problem.empty()) {
    say_error(problem);
    return kExitFailed;
  }
  bool const is_ours = archive.extension() == ".reprise";
  RecordOptions options;
  options.output = is_ours ? behind_links(archive) : fs::path(line.archive + ".reprise");
  if (!is_ours && !keep_older(options.output)) return kExitFailed;
  options.overwrite = true;
  std::fprintf(stderr, "reprise: the certificates of origins are not verified\n");
  options.origins.insecure_origin = true;
  options.origins.allow_private = line.flags.allow_private;
  options.injection = injection_options(line.flags);
  options.serving = std::move(*serving);
  if (int const code = record(options, {}); code != kExitDone) return code;
  return is_ours ? int{kExitDone} : convert(options.output, archive);
}

}  // namespace reprise::wpr
