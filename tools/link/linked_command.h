#pragma once

#include <cstdint>
#include <expected>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "shaper/packet/awake_processors.h"
#include "shaper/packet/link_runner.h"
#include "shaper/packet/packet_report.h"
#include "shaper/packet/packet_shell.h"
#include "tools/link/link_plot.h"
#include "tools/process/running_command.h"

namespace CLI {
class App;
}

namespace reprise {

/// What the command line says about the emulated network.
struct LinkOptions {
  std::string link;  ///< as parse_link() takes it; empty: none
  std::optional<std::uint64_t> seed;
  std::string congestion = "cubic";
  std::optional<bool> realtime;  ///< must be, or must not be; none: the best priority there is
  bool keep_awake = false;
  bool no_self_check = false;
  std::filesystem::path log_file;
  bool plotted = false;  ///< whether plot() will be asked for, or timelines in the report

  void add_to(CLI::App& command);
  WantedPriority priority() const;
};

/// An error of the emulated network, with its remedy.
std::string text_of(const ShellError& error);
/// Prints it on stderr; returns `exit_code`.
int say(const ShellError& error, int exit_code);
/// Prints on stderr what the link missed of its settings, a line each.
void print_link_warnings(std::span<const std::string> warnings);

/// The exit code after a command behind a link that ended with `exit_code`. What succeeded fails if
/// a file was not `written`, or if the link `missed` its settings and must not.
int exit_code_behind_link(int exit_code, bool written, bool missed);

/// A command in a separate network behind an emulated link, until it ends. Errors are printed on
/// stderr where they occur, and returned as exit codes.
class LinkedCommand final : public RunningCommand {
 public:
  /// Makes the network with the listeners that `wanted` asks for (its congestion control is that of
  /// the options), and measures the link unless the options say otherwise. Before this process has
  /// threads. With `strict` a link that misses its settings is an error (kExitGate). If the system
  /// does not permit such a network, the reason is stored in `refused`, if given, or printed.
  static std::expected<std::unique_ptr<LinkedCommand>, int> prepare(
      const LinkOptions& options, PacketShellOptions wanted, bool strict,
      std::optional<ShellError>* refused = nullptr);

  /// The seed of the link's random choices.
  std::uint64_t seed() const { return run_.seed; }

  /// The sockets on the far side of the link; the server moves them out.
  std::span<Descriptor> tcp_listeners();
  /// The UDP sockets there, for the ports in `wanted`.
  std::span<Descriptor> udp_sockets();
  /// The DNS sockets, if requested: a TCP listener and a UDP socket.
  std::span<Descriptor> name_sockets();

  /// What some addresses add to the round trip; before start().
  void move_servers_away(FarServers::Delays delays) { run_.far_servers = std::move(delays); }

  /// Starts the link, then the command.
  std::string start(const std::vector<std::string>& arguments,
                    const std::vector<std::string>& environment) override;
  bool poll(int& exit_code) override { return shell_.poll(exit_code); }
  int event_fd() const override { return shell_.event_fd(); }
  void signal(int number) override { shell_.signal(number); }

  /// Ends the link, prints warnings about the run on stderr, and returns its report; the log, if
  /// any, is then closed. Call it once, after the command has ended.
  PacketRun finish();
  /// Whether the log, if any, was written to its end; after finish().
  bool log_written() const { return log_written_; }
  /// The data to plot, after finish(). Empty without LinkOptions::plotted.
  LinkPlot plot() const;
  /// The report so far, without timelines.
  PacketRun report() const;

 private:
  LinkedCommand(PacketShell shell, LinkDevices devices, LinkOptions options, PacketRun run)
      : shell_(std::move(shell)),
        devices_(std::move(devices)),
        options_(std::move(options)),
        run_(std::move(run)) {}
  std::optional<int> check(bool strict);
  ShellResult<SelfCheck> check_link();
  ShellResult<SelfCheck> check_awake(SelfCheck asleep);

  PacketShell shell_;
  LinkDevices devices_;
  LinkOptions options_;
  PacketRun run_;
  std::size_t udp_sockets_ = 0;
  std::size_t name_sockets_ = 0;
  std::unique_ptr<LinkLog> log_;
  bool log_written_ = true;
  std::unique_ptr<LinkSeries> series_;
  std::unique_ptr<LinkRunner> link_;
  std::optional<AwakeProcessors> awake_;
};

}  // namespace reprise
