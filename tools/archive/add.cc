#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "archive/edit/merge.h"
#include "archive/match/match.h"
#include "archive/open_file.h"
#include "archive/replace.h"
#include "base/system/execute.h"
#include "base/text/counted.h"
#include "tools/archive/archive_commands.h"
#include "tools/archive/open.h"
#include "tools/commands.h"
#include "tools/process/command_line.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;

struct AddArguments {
  fs::path archive;
  bool new_session = false;
  bool pages = false;                   ///< the URLs become start URLs
  std::vector<std::string> for_record;  ///< URLs, and options of `record`
};

bool has_option(const std::vector<std::string>& arguments, const std::string& name) {
  return std::ranges::any_of(arguments, [&name](const std::string& argument) {
    return argument == name || argument.starts_with(name + "=");
  });
}

/// Options that give the added pages the clock and the random numbers of the session they join: a
/// replay has one of each.
std::vector<std::string> same_world(const SessionInfo& info,
                                    const std::vector<std::string>& given) {
  std::vector<std::string> options;
  auto const add = [&](const std::string& name, const std::string& value) {
    if (has_option(given, name)) return;
    options.push_back(name);
    options.push_back(value);
  };
  if (!info.injected_clock) {
    add("--inject", "none");
    return options;
  }
  add("--time-seed", std::to_string(info.injected_clock->start.count()));
  add("--random-seed", std::to_string(info.random_seed));
  add("--clock", info.injected_clock->mode);
  if (!info.time_zone.empty()) add("--timezone", info.time_zone);
  return options;
}

/// The session that a replay would serve.
SessionInfo served_session(const ArchiveReader& reader) {
  auto const number = Matcher(reader, 0).session();
  auto const found = std::ranges::find(reader.sessions(), number, &SessionInfo::number);
  return found == reader.sessions().end() ? SessionInfo() : *found;
}

int record(std::vector<std::string> options, const std::vector<std::string>& given) {
  options.insert(options.begin(), "record");
  options.insert(options.end(), given.begin(), given.end());
  auto const status = run_in_foreground("/proc/self/exe", options);
  if (status) return *status;
  std::fprintf(stderr, "reprise: %s\n", status.error().c_str());
  return kExitFailed;
}

/// Whether another process uses an archive that is to be replaced; prints that. It may come later,
/// too: this only spares the user a recording that cannot be added now.
bool is_in_use(const fs::path& path) {
  auto const lock = open_regular_file(path, FileLock::kExclusive);
  if (!lock) say_unusable(path, lock.error());
  return !lock;
}

/// Removes a file, even one left by a killed `add`, unless it is kept.
class Recording {
 public:
  explicit Recording(const fs::path& archive) : archive_(archive), path_(archive) {
    path_ += ".adding";
  }
  ~Recording() {
    if (is_ours_) ::unlink(path_.c_str());
  }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  /// False if another `add` uses it, or if what has its name is no recording; the error has been
  /// printed.
  bool take() {
    auto const left = open_regular_file(path_, FileLock::kExclusive);
    if (!left && left.error() == archive_errc::locked) {
      say_unusable(archive_, left.error());
      return false;
    }
    if (left) ::unlink(path_.c_str());
    std::error_code ignored;
    if (fs::exists(fs::symlink_status(path_, ignored))) {
      std::fprintf(stderr, "reprise: %s is in the way of a recording for %s: move it away\n",
                   path_.c_str(), archive_.c_str());
      return false;
    }
    is_ours_ = true;
    return true;
  }
  /// Renames it, so that the next `add` does not remove it, and prints what to do with it.
  void keep() {
    auto kept = archive_;
    kept += ".added";
    std::error_code error;
    for (int number = 2; fs::exists(fs::symlink_status(kept, error)); ++number) {
      kept = archive_;
      kept += ".added-" + std::to_string(number);
    }
    fs::rename(path_, kept, error);
    if (error) kept = path_;
    is_ours_ = false;
    std::fprintf(stderr, "reprise: recorded into %s; join it with `reprise archive merge`\n",
                 kept.c_str());
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path archive_;  ///< for which it is made
  fs::path path_;
  bool is_ours_ = false;
};

int join(const fs::path& path, const fs::path& recording, bool pages) {
  auto const added = ArchiveReader::open(recording, {});
  if (!added) {
    std::fprintf(stderr, "reprise: %s: what was recorded for it cannot be read: %s\n", path.c_str(),
                 added.error().message().c_str());
    return kExitArchive;
  }
  auto replacement = Replacement::begin(path, ".editing");
  if (!replacement) return say_unusable(path, replacement.error());
  std::vector<const ArchiveReader*> const from = {&replacement->original(), added->get()};
  auto const parts = merge_archives(from, {.all_pages = pages}, replacement->target());
  if (!parts) {
    bool const is_added = parts.error().code == archive_errc::corrupt && parts.error().archive == 1;
    return say_unusable(is_added ? recording : path, parts.error().code);
  }
  if (auto done = replacement->commit({}); !done) return say_unusable(path, done.error());
  std::fprintf(stderr, "added to %s: %s, now %llu\n", path.c_str(),
               counted(parts->back().taken, "exchange").c_str(),
               static_cast<unsigned long long>(parts->front().taken + parts->back().taken));
  return kExitDone;
}

int add(const AddArguments& arguments) {
  if (arguments.for_record.empty()) {
    std::fprintf(stderr, "reprise: archive add needs at least one URL\n");
    return kExitUsage;
  }
  auto archive = open_with_remarks(arguments.archive);
  if (!archive) return kExitArchive;
  // With a new session nothing is replaced: `record --append` refuses to cut off or hide anything.
  if (!arguments.new_session && refuses_as_damaged(*archive)) return kExitArchive;
  auto const info = served_session(*archive->reader);
  archive.reset();  // releases its lock, which excludes writers
  if (arguments.new_session) {
    return record({"--append", "-o", arguments.archive.string()}, arguments.for_record);
  }
  if (is_in_use(arguments.archive)) return kExitArchive;
  Recording recording(arguments.archive);
  if (!recording.take()) return kExitArchive;
  auto options = same_world(info, arguments.for_record);
  options.insert(options.begin(),
                 {"-o", recording.path().string(), "--joins", arguments.archive.string()});
  auto const exit_code = record(std::move(options), arguments.for_record);
  if (exit_code != kExitDone) {
    std::fprintf(stderr, "reprise: recording failed with exit status %d: nothing was added to %s\n",
                 exit_code, arguments.archive.c_str());
    return exit_code;
  }
  auto const joined = join(arguments.archive, recording.path(), arguments.pages);
  if (joined != kExitDone) recording.keep();
  return joined;
}

}  // namespace

void add_add_command(CLI::App& archive, int& exit_code) {
  auto const arguments = std::make_shared<AddArguments>();
  auto* const command = add_command(archive, "add", "Record more URLs into an archive");
  command->add_option("ARCHIVE", arguments->archive, "Archive to add to")->required();
  command->add_flag("--new-session", arguments->new_session,
                    "Before the URLs: record a separate session, as `record --append` does");
  command->add_flag("--page", arguments->pages,
                    "Before the URLs: add them to the start URLs, which `load` and `gate` load");
  command->prefix_command();
  command->footer(
      "After ARCHIVE come URLs and options of `record`. A browser opens the URLs; once they are "
      "recorded, the\nexchanges are added to the session that a replay serves, in one step. Its "
      "start URLs stay as they are,\nunless it has none or --page is given. If that fails, the "
      "recording is kept as ARCHIVE.added, for `merge`.");
  command->callback([arguments, command, &exit_code] {
    arguments->for_record = command->remaining();
    exit_code = add(*arguments);
  });
}

}  // namespace reprise
