#include "base/system/program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <sstream>

#include "base/system/descriptor.h"
#include "base/system/execute.h"
#include "base/system/last_error.h"

namespace reprise {
namespace {

/// Reads until the program and all processes that it started have closed their end.
Result<std::string> read_all(int fd, std::chrono::steady_clock::time_point deadline,
                             std::size_t bytes_max) {
  std::string output;
  std::array<char, 4096> chunk;
  while (true) {
    auto const left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return fail(std::make_error_code(std::errc::timed_out));
    pollfd waited{.fd = fd, .events = POLLIN, .revents = 0};
    int const ready = ::poll(&waited, 1, static_cast<int>(left.count()));
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    if (ready < 0) return fail(last_system_error());
    ssize_t const count = ::read(fd, chunk.data(), chunk.size());
    if (count == 0) return output;
    if (count < 0) return fail(last_system_error());
    output.append(chunk.data(), static_cast<std::size_t>(count));
    if (output.size() > bytes_max) return fail(std::make_error_code(std::errc::message_size));
  }
}

Result<pid_t> spawn(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                    int output_fd) {
  auto all = arguments;
  all.insert(all.begin(), program.string());
  auto const argv = argument_pointers(all);

  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, output_fd, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, output_fd, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // A new session has no terminal to ask for a password on, and can be killed as a whole.
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
  sigset_t none;
  ::sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  pid_t child = -1;
  int const error =
      ::posix_spawn(&child, program.c_str(), &files, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) return fail({error, std::system_category()});
  return child;
}

}  // namespace

std::optional<std::filesystem::path> find_program(std::string_view name) {
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (folder.empty()) continue;
    auto const candidate = std::filesystem::path(folder) / name;
    std::error_code ignored;
    if (std::filesystem::is_regular_file(candidate, ignored) &&
        ::access(candidate.c_str(), X_OK) == 0) {
      return candidate;
    }
  }
  return std::nullopt;
}

Result<ProgramResult> run_program(const std::filesystem::path& program,
                                  const std::vector<std::string>& arguments,
                                  std::chrono::milliseconds timeout, std::size_t output_bytes_max) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(last_system_error());
  Descriptor const read_end(ends[0]);
  Descriptor write_end(ends[1]);
  auto const child = spawn(program, arguments, write_end.get());
  if (!child) return fail(child.error());
  write_end = Descriptor();

  auto output =
      read_all(read_end.get(), std::chrono::steady_clock::now() + timeout, output_bytes_max);
  if (!output) ::kill(-*child, SIGKILL);
  int status = 0;
  while (::waitpid(*child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!output) return fail(output.error());
  return ProgramResult{.exit_code = exit_code_of(status), .output = std::move(*output)};
}

}  // namespace reprise
