#include "base/system/private_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

#include "base/system/last_error.h"

namespace reprise {
namespace {

Result<void> write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    auto const written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return fail(last_system_error());
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

Result<void> close_written(int fd, Result<void> done) {
  if (::close(fd) != 0 && done) return fail(last_system_error());
  return done;
}

/// Whether a new file may replace the existing one.
bool is_replaceable(const std::filesystem::path& path) {
  struct stat status{};
  return ::lstat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode);
}

Result<void> write_in_place(std::string_view text, const std::filesystem::path& path) {
  int const fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return fail(last_system_error());
  return close_written(fd, write_all(fd, text));
}

/// Writes to `fd`, the file `name`, then renames it.
Result<void> write_and_rename(int fd, const std::string& name, std::string_view text,
                              const std::filesystem::path& path, std::optional<mode_t> mode) {
  if (fd < 0) return fail(last_system_error());
  auto done = write_all(fd, text);
  if (done && mode && (::fchmod(fd, *mode) != 0 || ::fsync(fd) != 0)) {
    done = fail(last_system_error());
  }
  done = close_written(fd, done);
  if (done && ::rename(name.c_str(), path.c_str()) != 0) done = fail(last_system_error());
  if (!done) ::unlink(name.c_str());
  return done;
}

}  // namespace

Result<void> write_private_file(std::string_view text, const std::filesystem::path& path) {
  if (path == "-") return write_all(STDOUT_FILENO, text);
  if (!is_replaceable(path)) return write_in_place(text, path);
  std::string name = path.string() + ".XXXXXX";
  int const fd = ::mkostemp(name.data(), O_CLOEXEC);  // mode 0600
  return write_and_rename(fd, name, text, path, {});
}

Result<void> replace_file(std::string_view text, const std::filesystem::path& path, mode_t mode) {
  auto const name = path.string() + ".new";
  ::unlink(name.c_str());
  int const fd = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  return write_and_rename(fd, name, text, path, mode);
}

Result<void> check_writable(const std::filesystem::path& path) {
  if (path == "-") return {};
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    return fail(std::make_error_code(std::errc::is_a_directory));
  }
  auto const parent = path.has_parent_path() ? path.parent_path() : ".";
  auto const& needed = is_replaceable(path) ? parent : path;
  if (::access(needed.c_str(), W_OK) != 0) return fail(last_system_error());
  return {};
}

}  // namespace reprise
