#pragma once

#include <expected>
#include <filesystem>

namespace reprise {

/// The archive that a user names. A recording of another tool (.wprgo, HAR, WARC, WACZ, ...) is
/// imported into a private folder, which lives as long as this object.
class GivenArchive {
 public:
  /// Prints a notice on stderr if it imports. Any other file is left to its reader, which prints
  /// the error. The error is an exit code; its message has been printed.
  static std::expected<GivenArchive, int> take(const std::filesystem::path& path);
  GivenArchive(GivenArchive&& other) noexcept;
  GivenArchive& operator=(GivenArchive&&) = delete;
  ~GivenArchive();

  /// Removes the imported copy. Call it once the archive is open: then nothing is left of the copy,
  /// however the process ends.
  void remove_copy();

  /// The path to open.
  const std::filesystem::path& path() const { return path_; }

 private:
  explicit GivenArchive(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
  std::filesystem::path folder_;  ///< removed with this; empty: none
};

}  // namespace reprise
