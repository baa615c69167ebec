#include "tools/wpr/wpr_record.h"

#include <cstdio>
#include <filesystem>

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

/// Replaces `archive` by what was recorded. Nothing is lost if that fails.
int convert(const fs::path& recording, const fs::path& archive) {
  std::error_code error;
  auto const bytes = fs::file_size(recording, error);
  auto const problem = write_wprgo(recording, archive, effort_for(error ? 0 : bytes));
  if (problem.empty()) {
    fs::remove(recording, error);
    std::fprintf(stderr, "wrote %s\n", archive.c_str());
    return kExitDone;
  }
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
  options.output = is_ours ? behind_links(archive) : fs::path(line.archive + ".reprise");
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
