#include "tools/wpr/draft.h"

#include <cstdio>
#include <string>
#include <utility>

#include "archive/error.h"
#include "archive/open_file.h"
#include "tools/archive/errors.h"
#include "tools/commands.h"
#include "tools/process/interruption.h"
#include "tools/wpr/wpr_serving.h"
#include "tools/wpr/wprgo_file.h"

namespace reprise::wpr {
namespace {

namespace fs = std::filesystem;

/// Replaces `to` by a copy of `archive`; one that is read now keeps what it was. Returns the
/// problem as a sentence, or nothing.
std::string write_archive(const fs::path& archive, const fs::path& to) {
  auto const old = open_regular_file(to, FileLock::kShared);
  if (!old && old.error() != std::errc::no_such_file_or_directory) {
    return archive_error_text(to, old.error());
  }
  return replace_once_whole(to, [&](const fs::path& part) {
    std::error_code error;
    fs::copy_file(archive, part, fs::copy_options::overwrite_existing, error);
    return error ? to.string() + ": " + error.message() : std::string();
  });
}

/// Replaces `to` by a .wprgo of `archive`, which is kept beside it if a .wprgo cannot hold all of
/// it. Returns the problem as a sentence, or nothing.
std::string write_converted(const fs::path& archive, const fs::path& to) {
  auto const lost = write_wprgo(archive, to, exporting::Effort::kUsual);
  if (!lost) return lost.error();
  if (lost->empty()) return {};
  auto const kept = name_to_keep(to);
  std::error_code error;
  fs::copy_file(archive, kept, error);
  if (error) {
    std::error_code ignored;
    if (error != std::errc::file_exists) fs::remove(kept, ignored);  // a part of it
    for (auto const& sentence : *lost) std::fprintf(stderr, "  %s\n", sentence.c_str());
    return to.string() + " was written without these, and " + kept.string() + ": " +
           error.message();
  }
  print_kept(*lost, kept);
  return {};
}

}  // namespace

Draft::Draft(fs::path to) : to_(std::move(to)) {
  if (auto const problem = why_not_writable(to_); !problem.empty()) {
    say_error(problem);
    return;
  }
  auto folder = PrivateFolder::make("reprise-httparchive-");
  if (folder) {
    folder_ = std::move(*folder);
  } else {
    say_error("cannot create a folder: " + folder.error().message());
  }
}

int Draft::deliver() const {
  if (Interruption::was_asked()) return Interruption::exit_code();
  auto const problem =
      to_.extension() == ".reprise" ? write_archive(path(), to_) : write_converted(path(), to_);
  if (problem.empty()) return kExitDone;
  say_error(problem);
  return kExitFailed;
}

}  // namespace reprise::wpr
