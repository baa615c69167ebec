#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace reprise {

/// Chromium creates a socket in its folder for temporary files, whose path is limited to 107 bytes
/// (unix(7)).
inline constexpr std::size_t kBrowserFolderBytesMax =
    107 - std::string_view("/org.chromium.Chromium.XXXXXX/SingletonSocket").size();

/// Creates a private folder (0700) with the name `prefix` plus six random letters, in $TMPDIR, or
/// in /tmp or /var/tmp if its path would exceed `path_bytes_max` there or it cannot be created.
/// Errors: filename_too_long; the system error of mkdtemp(3).
Result<std::filesystem::path> make_private_folder(
    const std::string& prefix, std::size_t path_bytes_max = kBrowserFolderBytesMax);

/// Such a folder, removed with its contents with this.
class PrivateFolder {
 public:
  /// Errors: make_private_folder()'s.
  static Result<PrivateFolder> make(const std::string& prefix);
  PrivateFolder() = default;  ///< no folder
  PrivateFolder(PrivateFolder&& other) noexcept;
  PrivateFolder& operator=(PrivateFolder&& other) noexcept;
  ~PrivateFolder();

  /// Empty: none.
  const std::filesystem::path& path() const { return path_; }
  void remove();

 private:
  explicit PrivateFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace reprise
