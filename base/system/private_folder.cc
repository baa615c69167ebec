#include "base/system/private_folder.h"

#include <cstdlib>
#include <utility>

#include "base/system/last_error.h"

namespace reprise {

Result<std::filesystem::path> make_private_folder(const std::string& prefix,
                                                  std::size_t path_bytes_max) {
  const char* const wanted = std::getenv("TMPDIR");
  auto error = std::make_error_code(std::errc::filename_too_long);
  for (const char* const parent : {wanted, "/tmp", "/var/tmp"}) {
    if (parent == nullptr || *parent != '/') continue;
    std::string name = (std::filesystem::path(parent) / (prefix + "XXXXXX")).string();
    if (name.size() > path_bytes_max) continue;
    if (::mkdtemp(name.data()) != nullptr) return std::filesystem::path(name);
    error = last_system_error();
  }
  return fail(error);
}

Result<PrivateFolder> PrivateFolder::make(const std::string& prefix) {
  auto folder = make_private_folder(prefix);
  if (!folder) return fail(folder.error());
  return PrivateFolder(std::move(*folder));
}

PrivateFolder::PrivateFolder(PrivateFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})) {}

PrivateFolder& PrivateFolder::operator=(PrivateFolder&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}

PrivateFolder::~PrivateFolder() {
  remove();
}

void PrivateFolder::remove() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(std::exchange(path_, {}), ignored);
}

}  // namespace reprise
