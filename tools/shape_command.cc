#include <signal.h>

#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/json.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <random>
#include <string>

#include "shaper/packet/link_runner.h"
#include "shaper/packet/outside_relay.h"
#include "shaper/packet/packet_report.h"
#include "shaper/packet/packet_shell.h"
#include "shaper/packet/self_check.h"
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
  bool no_self_check = false;
  bool strict = false;
  std::filesystem::path report_file;
  std::filesystem::path log_file;
};

constexpr const char* kCrossing = R"(What crosses the link, both ways:
  TCP to every IPv4 address and port (to those of --ports, if the kernel has no TPROXY). The
  connection is accepted behind the link and carried on from there by an ordinary one, so the way
  outside adds to the first byte and not to the handshake, and a refused connection is seen as one
  that is reset.
  DNS to every address (UDP and TCP port 53). /etc/resolv.conf names 192.0.2.1, which asks the
  resolver of this machine.
  Other ports of 192.0.2.1 are those of this machine's loopback: a server on 127.0.0.1:8000 is
  http://192.0.2.1:8000/ to the command.
What does not: IPv6, other UDP (QUIC falls back to TCP), ICMP beyond 192.0.2.1. The command's own
loopback is its own.)";

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

/// Writes the report, if one is asked for, and says on stderr what is doubtful.
int conclude(const ShapeOptions& options, const PacketRun& run, int exit_code) {
  auto const doubts = doubts_of(run);
  for (const std::string& doubt : doubts) {
    std::fprintf(stderr, "reprise: the link is not what it should be: %s\n", doubt.c_str());
  }
  if (!options.report_file.empty()) {
    auto report = to_json(run);
    report["exit_code"] = exit_code;
    std::ofstream file(options.report_file, std::ios::trunc);
    file << boost::json::serialize(report) << "\n";
    if (!file.flush()) {
      std::fprintf(stderr, "reprise: --report %s cannot be written: %s\n",
                   options.report_file.c_str(), std::strerror(errno));
      return exit_code == kExitDone ? kExitFailed : exit_code;
    }
  }
  return exit_code == kExitDone && options.strict && !doubts.empty() ? kExitGate : exit_code;
}

/// Runs `command` in `shell`, whose devices are `devices`.
int run_behind(PacketShell& shell, LinkDevices& devices, ShapedRun& run,
               const ShapeOptions& options, PacketRun& result,
               const std::vector<std::string>& command) {
  std::unique_ptr<LinkLog> log;
  if (!options.log_file.empty()) {
    auto opened = LinkLog::open(options.log_file);
    if (!opened) return print(opened.error(), kExitFailed);
    log = std::move(*opened);
  }
  auto const link =
      LinkRunner::start(devices, result.profile,
                        {.seed = result.seed, .realtime = options.realtime, .log = log.get()});
  if (!link) return print(link.error(), kExitListen);
  if (auto const started = shell.run(command); !started) {
    return print(started.error(), kExitFailed);
  }
  auto const exit_code = run.run();
  (*link)->stop();
  result.link = (*link)->report();
  if (log) {
    if (auto const closed = log->close(); !closed) return print(closed.error(), kExitFailed);
  }
  return conclude(options, result, exit_code);
}

/// Measures the link before the command uses it. An exit code if that ends the run.
std::optional<int> check(LinkDevices& devices, BuiltNetwork& network, const ShapeOptions& options,
                         PacketRun& result) {
  if (options.no_self_check) {
    result.self_check.skipped = "--no-selfcheck";
  } else {
    auto checked = check_link(devices, network, result.profile,
                              {.seed = result.seed, .realtime = options.realtime});
    if (!checked) return print(checked.error(), kExitListen);
    result.self_check = std::move(*checked);
    if (options.strict && !result.self_check.deviations.empty()) {
      return conclude(options, result, kExitDone);
    }
  }
  network.client_probe.reset();
  network.server_probe.reset();
  return std::nullopt;
}

int shape(const ShapeOptions& options, const std::vector<std::string>& command) {
  if (command.empty()) {
    std::fprintf(stderr, "reprise: shape needs a command: reprise shape --link LINK -- COMMAND\n");
    return kExitUsage;
  }
  auto profile = parse_link(options.link);
  if (!profile) {
    std::fprintf(stderr, "reprise: --link %s: %s\n", options.link.c_str(), profile.error().c_str());
    return kExitUsage;
  }
  PacketRun result{.profile = std::move(*profile),
                   .seed = options.seed.value_or(std::random_device()()),
                   .congestion = options.congestion};
  auto shell = PacketShell::start({.congestion = options.congestion,
                                   .all_tcp_ports = true,
                                   .tcp_ports = options.ports,
                                   .udp_ports = {kDnsPort}});
  if (!shell) return print(shell.error(), kExitListen);
  // Not before the fork: it would be the command's, too.
  ::signal(SIGPIPE, SIG_IGN);
  ShapedRun run(*shell);
  if (auto const served = run.serve(); !served) return print(served.error(), kExitFailed);
  auto devices = LinkDevices::open(shell->network());
  if (!devices) return print(devices.error(), kExitListen);
  if (auto const ended = check(*devices, shell->network(), options, result)) return *ended;
  return run_behind(*shell, *devices, run, options, result, command);
}

}  // namespace

void add_shape_command(CLI::App& app, const std::vector<std::string>& command, int& exit_code) {
  auto const options = std::make_shared<ShapeOptions>();
  auto* const shape_command =
      app.add_subcommand("shape", "Runs any command behind an emulated link");
  shape_command->footer(kCrossing);
  shape_command->add_option("--link", options->link, "The link: wpt:4g, 9000/9000/170/1%, ...")
      ->required();
  shape_command->add_option("--link-seed", options->seed,
                            "Of every random choice (default: any; the report has it)");
  shape_command->add_option("--congestion", options->congestion, "Of TCP, on both sides")
      ->check(CLI::IsMember({"cubic", "bbr", "reno"}))
      ->capture_default_str();
  shape_command
      ->add_option("--ports", options->ports, "TCP ports that cross where not all of them can")
      ->delimiter(',')
      ->expected(1, static_cast<int>(kShellPortsMax) - 1)
      ->capture_default_str();
  shape_command->add_flag("--realtime", options->realtime,
                          "Real-time priority for the link: more exact on a busy machine");
  shape_command->add_flag("--no-selfcheck", options->no_self_check,
                          "Do not measure the link before the command starts");
  shape_command->add_flag("--strict", options->strict,
                          "Exit with 5 when the link was not what it should be");
  shape_command->add_option("--report", options->report_file, "Write what was measured, as JSON");
  shape_command->add_option("--link-log", options->log_file,
                            "Write a line a packet: when it came, its fate, when it left");
  shape_command->callback([options, command, &exit_code] { exit_code = shape(*options, command); });
}

}  // namespace reprise
