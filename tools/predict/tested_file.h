#pragma once

// ARCHIVE.dependency.json: what `reprise predict --perturb` has found about an archive's pages.

#include <expected>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analysis/dependency/tested_dependencies.h"

namespace reprise {

class TestedFile {
 public:
  /// Beside `archive`, as the user names it.
  explicit TestedFile(const std::filesystem::path& archive);

  const std::filesystem::path& path() const { return path_; }
  bool exists() const;
  /// None if there is no such file. Errors: a sentence that names the file: it cannot be read, or
  /// is of another archive than the one with this digest.
  std::expected<std::vector<TestedPage>, std::string> pages(const std::string& sha256) const;
  /// The one of that URL. Errors: as above.
  std::expected<std::optional<TestedPage>, std::string> page(const std::string& sha256,
                                                             const std::string& url) const;
  /// Adds a page, instead of an earlier one of its URL. A file that pages() refuses is replaced.
  /// Returns what was not kept, and why: a sentence that names the file.
  std::optional<std::string> keep(const std::string& sha256, TestedPage page) const;

 private:
  std::filesystem::path path_;
};

}  // namespace reprise
