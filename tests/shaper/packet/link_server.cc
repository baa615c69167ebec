// Puts a server directly behind a link, with no relay between them: what an origin costs on it.
//
//   link_server LINK PORT SERVER... -- COMMAND...
//
// SERVER inherits a listener on PORT of every address behind the link, in the way that nginx takes
// one: the environment variable NGINX names its descriptor. COMMAND runs before the link, and its
// exit code is returned.

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "shaper/packet/link_runner.h"
#include "shaper/packet/packet_shell.h"

namespace reprise {
namespace {

template <class T>
T need(std::expected<T, ShellError> result) {
  if (result) return std::move(*result);
  std::fprintf(stderr, "link_server: %s; %s\n", result.error().what.c_str(),
               result.error().fix.c_str());
  std::exit(4);
}

/// The child's process id.
pid_t start_server(int listener, std::vector<std::string> arguments) {
  pid_t const child = ::fork();
  if (child != 0) return child;
  ::fcntl(listener, F_SETFD, 0);
  ::setenv("NGINX", (std::to_string(listener) + ";").c_str(), 1);
  std::vector<char*> words;
  for (std::string& argument : arguments) words.push_back(argument.data());
  words.push_back(nullptr);
  ::execvp(words[0], words.data());
  std::perror("link_server: the server cannot be started");
  ::_exit(127);
}

int run(const LinkProfile& profile, std::uint16_t port, std::vector<std::string> server,
        const std::vector<std::string>& command) {
  auto shell = need(PacketShell::start({.tcp_ports = {port}}));
  auto devices = need(LinkDevices::open(shell.network()));
  pid_t const child = start_server(shell.network().listeners[0].get(), std::move(server));
  auto link = need(LinkRunner::start(devices, profile, {}));
  int exit_code = 1;
  if (child > 0 && shell.run(command)) {
    pollfd waited{.fd = shell.event_fd(), .events = POLLIN, .revents = 0};
    while (!shell.poll(exit_code)) ::poll(&waited, 1, -1);
  }
  link->stop();
  if (child > 0) {
    ::kill(child, SIGTERM);
    ::waitpid(child, nullptr, 0);
  }
  return exit_code;
}

}  // namespace
}  // namespace reprise

int main(int argc, char** argv) {
  using namespace reprise;
  std::vector<std::string> const arguments(argv + 1, argv + argc);
  auto const end = std::ranges::find(arguments, "--");
  int const port = arguments.size() > 1 ? std::atoi(arguments[1].c_str()) : 0;
  if (port <= 0 || port > 65535 || end - arguments.begin() < 3 || arguments.end() - end < 2) {
    std::fprintf(stderr, "usage: link_server LINK PORT SERVER... -- COMMAND...\n");
    return 2;
  }
  auto const profile = parse_link(arguments[0]);
  if (!profile) {
    std::fprintf(stderr, "link_server: %s\n", profile.error().c_str());
    return 2;
  }
  return run(*profile, static_cast<std::uint16_t>(port), {arguments.begin() + 2, end},
             {end + 1, arguments.end()});
}
