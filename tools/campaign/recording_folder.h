#pragma once

// The folder in which a shard records, until it is the shard's result.

#include <cstddef>
#include <filesystem>
#include <string>

#include "base/result.h"
#include "tools/campaign/campaign_folder.h"

namespace reprise {

/// Of one attempt at a shard. What has not become the result by its end is left to the next attempt
/// if corpus.json has a page with an archive, however the recorder ended; else it is removed.
class RecordingFolder {
 public:
  /// Makes nothing yet. `campaign` is borrowed; `shard` is from 1.
  RecordingFolder(const CampaignFolder& campaign, std::size_t shard, const std::string& node);
  ~RecordingFolder();
  RecordingFolder(const RecordingFolder&) = delete;
  RecordingFolder& operator=(const RecordingFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// Makes the folder, with the archives that the last attempt has left, and a corpus.json of these
  /// pages alone. Errors: the system error of mkdir(2), or that of writing corpus.json.
  Result<void> make();
  /// Syncs the folder and renames it to the result's place. What is in the way there is kept if it
  /// is this shard's result, since a twin was quicker; else it is set aside. Errors: the system
  /// error of fsync(2), mkdir(2), mkdtemp(3) or rename(2).
  Result<void> put() const;

 private:
  /// Keeps the archives for the next attempt, which records only the other pages. If that is not
  /// possible, it records all.
  void leave() const;

  const CampaignFolder& campaign_;
  std::size_t shard_;
  std::filesystem::path place_, path_, left_;
};

}  // namespace reprise
