#include "tools/process/output_folder.h"

#include <fcntl.h>
#include <unistd.h>

#include <system_error>

#include "base/system/last_error.h"

namespace reprise {

std::expected<void, std::string> make_output_folder(const std::filesystem::path& folder) {
  if (folder.empty()) return {};
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return std::unexpected(folder.string() + ": " + error.message());
  if (::faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) != 0) {
    return std::unexpected("no file can be created in " + folder.string() + ": " +
                           last_system_error().message());
  }
  return {};
}

}  // namespace reprise
