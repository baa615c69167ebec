#include "tools/private_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace reprise {
namespace {

Result<void> write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    auto const written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return fail({errno, std::system_category()});
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

}  // namespace

Result<void> write_private_file(std::string_view text, const std::filesystem::path& path) {
  if (path == "-") return write_all(STDOUT_FILENO, text);
  std::string name = path.string() + ".XXXXXX";
  int const fd = ::mkstemp(name.data());  // mode 0600
  if (fd < 0) return fail({errno, std::system_category()});
  auto done = write_all(fd, text);
  if (::close(fd) != 0 && done) done = fail({errno, std::system_category()});
  if (done && ::rename(name.c_str(), path.c_str()) != 0) {
    done = fail({errno, std::system_category()});
  }
  if (!done) ::unlink(name.c_str());
  return done;
}

}  // namespace reprise
