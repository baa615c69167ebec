#include <signal.h>

#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/json.hpp>
#include <cstdio>
#include <fstream>
#include <memory>
#include <optional>
#include <random>
#include <string>

#include "shaper/description.h"
#include "shaper/packet/link_runner.h"
#include "shaper/packet/outside_relay.h"
#include "shaper/packet/packet_shell.h"
#include "tools/commands.h"
#include "tools/signal_events.h"

namespace reprise {
namespace {

namespace net = boost::asio;

constexpr const char* kHostResolverSettings = "/etc/resolv.conf";
constexpr std::uint16_t kDnsPort = 53;

struct ShapeOptions {
  std::string link;
  std::optional<std::uint64_t> seed;
  std::string congestion = "cubic";
  std::vector<std::uint16_t> ports{80, 443, 8080, 8443};
  bool realtime = false;
  std::string report_file;
  std::string log_file;
};

int print(const ShellError& error, int exit_code) {
  std::fprintf(stderr, "reprise: %s%s%s\n", error.what.c_str(), error.fix.empty() ? "" : "; ",
               error.fix.c_str());
  return exit_code;
}

/// The command, from its start to its end.
class ShapedRun {
 public:
  explicit ShapedRun(PacketShell& shell)
      : shell_(shell),
        signals_(context_),
        events_(context_, ::dup(shell.event_fd())),
        relay_(context_, first_resolver(kHostResolverSettings)) {}

  /// Serves what the shell's listeners accept. Errors: those of the relay.
  ShellResult<void> serve() {
    auto& network = shell_.network();
    for (Descriptor& listener : network.listeners) {
      // TCP first, then the one of UDP.
      bool const tcp = &listener != &network.listeners.back();
      auto const done =
          tcp ? relay_.carry_tcp(std::move(listener)) : relay_.carry_udp(std::move(listener));
      if (!done) return done;
    }
    return {};
  }

  /// The command's exit code.
  int run() {
    signals_.listen([this](const signalfd_siginfo& signal) { on_signal(signal); });
    await_end();
    context_.run();
    return exit_code_;
  }

 private:
  void await_end() {
    events_.async_wait(events_.wait_read, [this](boost::system::error_code error) {
      if (error) return;
      if (shell_.poll(exit_code_)) return context_.stop();
      await_end();
    });
  }

  void on_signal(const signalfd_siginfo& signal) {
    auto const number = static_cast<int>(signal.ssi_signo);
    if (number == SIGCHLD) return;
    if (std::exchange(signalled_, true)) return shell_.signal(SIGKILL);
    // What is typed reaches the command by itself: it is in our process group.
    if (signal.ssi_code != SI_KERNEL) shell_.signal(number);
  }

  PacketShell& shell_;
  net::io_context context_{1};
  SignalEvents signals_;
  net::posix::stream_descriptor events_;
  OutsideRelay relay_;
  bool signalled_ = false;
  int exit_code_ = kExitFailed;
};

int shape(const ShapeOptions& options, const std::vector<std::string>& command) {
  if (command.empty()) {
    std::fprintf(stderr, "reprise: shape needs a command: reprise shape --link LINK -- COMMAND\n");
    return kExitUsage;
  }
  auto const profile = parse_link(options.link);
  if (!profile) {
    std::fprintf(stderr, "reprise: --link %s: %s\n", options.link.c_str(), profile.error().c_str());
    return kExitUsage;
  }
  auto const seed = options.seed.value_or(std::random_device()());
  auto shell = PacketShell::start({.congestion = options.congestion,
                                   .all_tcp_ports = true,
                                   .tcp_ports = options.ports,
                                   .udp_ports = {kDnsPort}});
  if (!shell) return print(shell.error(), kExitListen);
  ::signal(SIGPIPE, SIG_IGN);
  ShapedRun run(*shell);
  if (auto const served = run.serve(); !served) return print(served.error(), kExitFailed);
  auto devices = LinkDevices::open(shell->network());
  if (!devices) return print(devices.error(), kExitListen);
  std::unique_ptr<LinkLog> log;
  if (!options.log_file.empty()) {
    auto opened = LinkLog::open(options.log_file);
    if (!opened) return print(opened.error(), kExitFailed);
    log = std::move(*opened);
  }
  auto const link = LinkRunner::start(
      *devices, *profile, {.seed = seed, .realtime = options.realtime, .log = log.get()});
  if (!link) return print(link.error(), kExitListen);
  if (auto const started = shell->run(command); !started) {
    return print(started.error(), kExitFailed);
  }
  auto const exit_code = run.run();
  (*link)->stop();
  return exit_code;
}

}  // namespace

void add_shape_command(CLI::App& app, const std::vector<std::string>& command, int& exit_code) {
  auto const options = std::make_shared<ShapeOptions>();
  auto* const shape_command =
      app.add_subcommand("shape", "Runs any command behind an emulated link");
  shape_command->add_option("--link", options->link, "The link: wpt:4g, 9000/9000/170/1%, ...")
      ->required();
  shape_command->add_option("--link-seed", options->seed, "Of every random choice (default: any)");
  shape_command->add_option("--congestion", options->congestion, "Of the server's TCP")
      ->check(CLI::IsMember({"cubic", "bbr", "reno"}));
  shape_command->add_flag("--realtime", options->realtime, "Real-time priority for the link");
  shape_command->add_option("--link-log", options->log_file, "One line a packet");
  shape_command->callback([options, command, &exit_code] { exit_code = shape(*options, command); });
}

}  // namespace reprise
