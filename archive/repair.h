#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace reprise {

struct RepairReport {
  std::uint64_t exchanges_kept = 0;
  std::uint64_t exchanges_lost = 0;  ///< the record or a body of it is damaged
  std::uint64_t bytes_before = 0;
  std::uint64_t bytes_after = 0;
  std::vector<std::string> remarks;   ///< what was lost, one sentence each, for people
  std::filesystem::path backup_path;  ///< empty when none was kept
};

/// Rewrites what is readable of an archive into a new, closed file that takes its place: damaged
/// records, a torn tail and chunks that no exchange refers to are left out; sessions keep their
/// numbers. The original stays as FILE.bak if `keep_backup`. Until the last step the original is
/// untouched; a crash leaves at most FILE.repairing. Needs room for a second copy.
/// Errors: those of ArchiveReader::open; locked; already_exists when FILE.bak does; write(2)'s.
Result<RepairReport> repair_archive(const std::filesystem::path& path, bool keep_backup);

}  // namespace reprise
