#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace reprise {

struct RepairReport {
  std::uint64_t exchanges_kept = 0;
  std::uint64_t exchanges_lost = 0;  ///< their record or one of their bodies is damaged
  /// The end of the file cannot be read: how many exchanges it had is unknown.
  bool more_may_be_lost = false;
  std::uint64_t bytes_before = 0;
  std::uint64_t bytes_after = 0;
  std::vector<std::string> remarks;   ///< the losses, one sentence each, for users
  std::filesystem::path backup_path;  ///< empty if none was kept
};

/// Rewrites the readable parts of an archive into a new, closed file that replaces it. Damaged
/// records, a torn tail and unreferenced chunks are dropped. Sessions keep their numbers and
/// whether they are complete, even if their start is damaged. The original is kept as FILE.bak if
/// `keep_backup`. The original is not changed until the last step; a crash leaves at most
/// FILE.repairing. Needs room for a second copy; on a file system without hard links for a third,
/// and there a crash can leave a part of FILE.bak. Errors: those of ArchiveReader::open; locked;
/// already_exists when FILE.bak does; too_large; write(2)'s.
Result<RepairReport> repair_archive(const std::filesystem::path& path, bool keep_backup);

}  // namespace reprise
