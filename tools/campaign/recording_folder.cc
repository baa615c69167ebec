#include "tools/campaign/recording_folder.h"

#include <stdlib.h>
#include <unistd.h>

#include <system_error>

#include "base/system/last_error.h"
#include "base/system/mapped_file.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;

/// fsync(2) on all in a folder, and on the folder: a rename after it finds them complete.
Result<void> sync_all_in(const fs::path& folder) {
  std::error_code error;
  fs::recursive_directory_iterator it(folder, error), end;
  for (; !error && it != end; it.increment(error)) {
    std::error_code unknown;
    bool const is_kept = it->is_regular_file(unknown) || it->is_directory(unknown);
    if (!is_kept) continue;
    if (auto const done = sync_file(it->path()); !done) return done;
  }
  if (error) return fail(error);
  return sync_file(folder);
}

}  // namespace

RecordingFolder::RecordingFolder(const CampaignFolder& campaign, std::size_t shard,
                                 const std::string& node)
    : campaign_(campaign), shard_(shard), place_(campaign.result_path(shard).parent_path()) {
  path_ = fs::path(place_).concat("." + node + "." + std::to_string(::getpid()));
  left_ = campaign.path() / "unfinished" / (place_.filename().string() + "-" + campaign.digest());
}

RecordingFolder::~RecordingFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

Result<void> RecordingFolder::make() {
  std::error_code error;
  fs::remove_all(path_, error);
  fs::rename(left_, path_, error);
  if (!error) return {};
  fs::create_directories(path_, error);
  if (error) return fail(error);
  return {};
}

Result<void> RecordingFolder::put() const {
  if (auto const synced = sync_all_in(path_); !synced) return synced;
  std::error_code error;
  fs::rename(path_, place_, error);
  if (!error || campaign_.is_done(shard_)) return {};
  if (error != std::errc::directory_not_empty && error != std::errc::file_exists) {
    return fail(error);
  }
  auto const folder = campaign_.path() / "set-aside";
  fs::create_directories(folder, error);
  if (error) return fail(error);
  auto aside = (folder / (place_.filename().string() + "-XXXXXX")).string();
  if (::mkdtemp(aside.data()) == nullptr) return fail(last_system_error());
  fs::rename(place_, aside, error);
  if (error) return fail(error);
  fs::rename(path_, place_, error);
  if (error && !campaign_.is_done(shard_)) return fail(error);
  say_of_campaign(0, place_.string() + " was no result of this shard: it is in " + aside);
  return {};
}

void RecordingFolder::leave() const {
  std::error_code ignored;
  fs::create_directories(left_.parent_path(), ignored);
  fs::remove_all(left_, ignored);  // of another attempt at the same time
  fs::rename(path_, left_, ignored);
}

}  // namespace reprise
