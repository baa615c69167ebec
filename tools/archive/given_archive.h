#pragma once

#include <expected>
#include <filesystem>
#include <functional>

#include "base/system/private_folder.h"

namespace reprise {

/// "recordings/page" of "recordings/page/", which as a path has no filename().
std::filesystem::path without_slash(const std::filesystem::path& path);

/// The archive that a user names. A recording of another tool (.wprgo, HAR, WARC, WACZ, a folder of
/// mahimahi, ...) is imported into a private folder, which lives as long as this object.
class GivenArchive {
 public:
  /// Prints a notice on stderr if it imports. Anything else is left to its reader, which prints
  /// the error. The error is an exit code; its message has been printed.
  static std::expected<GivenArchive, int> take(const std::filesystem::path& path);
  /// Whether take() imports it. Reads only its beginning.
  static bool is_imported(const std::filesystem::path& path);
  /// Writes a changed copy of the archive `from` to the new file `to`; prints its errors and
  /// returns an exit code.
  using Amend =
      std::function<int(const std::filesystem::path& from, const std::filesystem::path& to)>;
  /// Such a copy of `given`, in a private folder as well. The error is an exit code.
  static std::expected<GivenArchive, int> amended(const GivenArchive& given, const Amend& amend);
  /// Removes the imported copy. Call it once the archive is open: then nothing is left of the copy,
  /// however the process ends.
  void remove_copy() { folder_.remove(); }

  /// The path to open.
  const std::filesystem::path& path() const { return path_; }

 private:
  /// A private folder with room for a copy of `path`.
  static std::expected<GivenArchive, int> place_for(const std::filesystem::path& path);
  explicit GivenArchive(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
  PrivateFolder folder_;  ///< of the copy
};

}  // namespace reprise
