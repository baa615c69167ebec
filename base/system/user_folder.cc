#include "base/system/user_folder.h"

#include <pwd.h>
#include <unistd.h>

#include <cstdlib>

namespace reprise {

std::filesystem::path user_folder(const char* variable, const std::filesystem::path& below_home) {
  const char* const given = std::getenv(variable);
  if (given != nullptr && *given == '/') return given;
  const char* home = std::getenv("HOME");
  if (home == nullptr || *home != '/') {
    const passwd* const user = ::getpwuid(::getuid());
    home = user != nullptr ? user->pw_dir : "/";
  }
  return home / below_home;
}

}  // namespace reprise
