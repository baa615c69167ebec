#include "tools/replay_child.h"

#include <poll.h>
#include <sys/inotify.h>
#include <sys/wait.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <cerrno>
#include <charconv>
#include <sstream>
#include <utility>

#include "archive/file.h"
#include "tools/browser/json_fields.h"
#include "tools/private_file.h"

namespace json = boost::json;
namespace fs = std::filesystem;

namespace reprise {
namespace {

auto now() {
  return std::chrono::steady_clock::now();
}

/// Of "127.0.0.1:8080"; 0 when there is none.
std::uint16_t port_of(std::string_view address) {
  auto const digits = address.substr(address.rfind(':') + 1);
  std::uint16_t port = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), port);
  return port;
}

int exit_code_of(int wait_status) {
  return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 1;
}

}  // namespace

std::string lines_for_people(const std::string& text) {
  std::istringstream lines(text);
  std::string out;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("reprise: ")) out += line + "\n";
  }
  return out;
}

std::expected<std::unique_ptr<ReplayChild>, ReplayChild::Failure> ReplayChild::start(
    const Options& options) {
  auto const cannot = [](const std::error_code& error) {
    return std::unexpected(Failure{
        .exit_code = 1, .text = "reprise: cannot start a replay: " + error.message() + "\n"});
  };
  auto const folder = make_private_folder("reprise-replay-");
  if (!folder) return cannot(folder.error());
  std::unique_ptr<ReplayChild> child(new ReplayChild(*folder));
  std::vector<std::string> arguments{"replay",       options.archive.string(),
                                     "--http",       "127.0.0.1:0",
                                     "--https",      "127.0.0.1:0",
                                     "--proxy",      "off",
                                     "--dns",        "off",
                                     "--ready-file", (*folder / "ready").string(),
                                     "--report",     (*folder / "report").string()};
  arguments.insert(arguments.end(), options.arguments.begin(), options.arguments.end());
  // The watch stands before there is anything to see.
  FileDescriptor const watch(::inotify_init1(IN_CLOEXEC));
  if (!watch.is_open() ||
      ::inotify_add_watch(watch.get(), folder->c_str(), IN_MOVED_TO | IN_CLOSE_WRITE) < 0) {
    std::error_code const error(errno, std::system_category());
    fs::remove_all(*folder);
    return cannot(error);
  }
  auto process = GuardedProcess::start({.program = options.program,
                                        .arguments = std::move(arguments),
                                        .environment = environment_with({}),
                                        .error_file = *folder / "stderr",
                                        .folder = *folder});
  if (!process) return cannot(process.error());
  child->process_ = std::move(*process);

  auto const deadline = now() + kReadyTime;
  while (!child->read_ready_file()) {
    if (auto const status = child->process_->wait_until(now())) {
      auto text = contents_of(*folder / "stderr");
      if (text.empty()) text = "reprise: the replay " + describe_wait_status(*status) + "\n";
      auto const code = exit_code_of(*status);
      return std::unexpected(Failure{.exit_code = code == 0 ? 1 : code, .text = std::move(text)});
    }
    auto const left = std::chrono::ceil<std::chrono::milliseconds>(deadline - now());
    struct pollfd watched[2] = {
        {.fd = watch.get(), .events = POLLIN, .revents = 0},
        {.fd = child->process_->ended_fd(), .events = POLLIN, .revents = 0},
    };
    int const ready = ::poll(watched, 2, static_cast<int>(std::max<long>(left.count(), 0)));
    if (ready == 0) {
      return std::unexpected(
          Failure{.exit_code = 1, .text = "reprise: the replay is not ready after 120 s\n"});
    }
    alignas(inotify_event) char events[4096];
    if (ready > 0 && watched[0].revents != 0 && ::read(watch.get(), events, sizeof events) < 0 &&
        errno != EINTR) {
      return cannot({errno, std::system_category()});
    }
  }
  return child;
}

bool ReplayChild::read_ready_file() {
  auto const ready = read_json(folder_ / "ready");
  if (!ready.is_object()) return false;
  auto const& told = ready.get_object();
  for (json::value const& flag : array_at(told, "chromium_flags")) {
    if (flag.is_string()) chromium_flags_.emplace_back(flag.get_string());
  }
  http_port_ = port_of(text_at(told, "http"));
  https_port_ = port_of(text_at(told, "https"));
  authority_ = text_at(told, "ca_file");
  return true;
}

ReplayChild::Ending ReplayChild::stop() {
  process_->terminate();
  auto const status = process_->wait_until(now() + kStopTime);
  Ending ending;
  ending.exit_code = status ? exit_code_of(*status) : 1;
  ending.report = read_json(folder_ / "report");
  ending.messages = lines_for_people(contents_of(folder_ / "stderr"));
  if (!status) ending.messages += "reprise: the replay did not end in 10 s and was killed\n";
  process_.reset();
  return ending;
}

}  // namespace reprise
