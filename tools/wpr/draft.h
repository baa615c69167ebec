#pragma once

#include <filesystem>

#include "base/system/private_folder.h"

namespace reprise::wpr {

/// The place, private, of an archive that is made before it replaces the output.
class Draft {
 public:
  /// For an archive that replaces `to`. Prints why there is no place, or why `to` cannot be
  /// written: before the user's work.
  explicit Draft(std::filesystem::path to);
  bool has_place() const { return !folder_.path().empty(); }
  std::filesystem::path path() const { return folder_.path() / "a.reprise"; }
  /// Replaces the output, a .wprgo unless it is named .reprise, by the archive at path(), unless a
  /// signal has asked to end. What a .wprgo cannot hold is printed, and kept in
  /// OUTPUT.kept.reprise. Prints its errors, after which the output is unchanged, unless only
  /// keeping failed; returns an exit code.
  int deliver() const;

 private:
  std::filesystem::path to_;
  PrivateFolder folder_;
};

}  // namespace reprise::wpr
