#pragma once

#include <filesystem>
#include <memory>

#include "archive/reader.h"
#include "archive/writer.h"
#include "base/result.h"
#include "base/system/descriptor.h"

namespace reprise {

/// A new archive that replaces an existing one atomically. The original is not changed until
/// commit(); a crash leaves at most an incomplete file beside it, which the next Replacement
/// overwrites. The original is locked meanwhile. Needs disk space for a second copy.
class Replacement {
 public:
  /// The new file lacks the damaged records of an archive, and all that cannot be read behind them:
  /// only a repair replaces such an archive, and keeps the original.
  enum class Damaged : std::uint8_t { kRefused, kReplaced };
  /// Creates `path` + `suffix`; of a symbolic link, beside its target, which is what is replaced.
  /// Errors: those of ArchiveReader::open; locked; corrupt if refused; too_large if a copy would
  /// lack facts; open(2)'s.
  static Result<Replacement> begin(const std::filesystem::path& path, const char* suffix,
                                   Damaged damaged = Damaged::kRefused);
  /// Removes the new file unless it was committed.
  ~Replacement();
  Replacement(Replacement&&) noexcept;
  Replacement& operator=(Replacement&&) = delete;

  /// The file to replace, never a symbolic link.
  const std::filesystem::path& path() const { return path_; }
  const ArchiveReader& original() const { return *original_; }
  ArchiveWriter& target() const { return *target_; }

  /// Closes the new file, gives it the original's owner and mode, and moves it over the original,
  /// which is kept as `backup` unless that is empty. Errors: write(2)'s, fsync(2)'s, link(2)'s,
  /// rename(2)'s.
  Result<void> commit(const std::filesystem::path& backup);

 private:
  Replacement() = default;

  std::filesystem::path path_;
  std::filesystem::path new_path_;  ///< empty once it is committed
  Descriptor lock_;
  std::unique_ptr<ArchiveReader> original_;
  std::unique_ptr<ArchiveWriter> target_;
};

}  // namespace reprise
