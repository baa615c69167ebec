#pragma once

#include <filesystem>

#include "base/system/private_folder.h"

namespace reprise::wpr {

/// The place, private, of an archive that is made before it replaces the output.
class Draft {
 public:
  /// Prints why there is no place.
  Draft();
  bool has_place() const { return !folder_.path().empty(); }
  std::filesystem::path path() const { return folder_.path() / "a.reprise"; }
  /// Replaces `to`, a .wprgo unless it is named .reprise, by the archive at path(), unless a signal
  /// has asked to end. Prints its errors, after which `to` is unchanged; returns an exit code.
  int deliver(const std::filesystem::path& to) const;

 private:
  PrivateFolder folder_;
};

}  // namespace reprise::wpr
