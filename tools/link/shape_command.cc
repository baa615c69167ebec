#include <signal.h>

#include <boost/asio/io_context.hpp>
#include <boost/json.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "base/system/json_file.h"
#include "base/system/private_file.h"
#include "shaper/packet/network/outside_relay.h"
#include "tools/commands.h"
#include "tools/link/link_plot.h"
#include "tools/link/linked_command.h"
#include "tools/process/command_line.h"
#include "tools/process/descriptor_limit.h"
#include "tools/process/main_loop.h"
#include "tools/process/process_signals.h"

namespace reprise {
namespace {

constexpr const char* kHostResolverSettings = "/etc/resolv.conf";

struct ShapeOptions {
  LinkOptions link;
  std::vector<std::uint16_t> ports{80, 443, 8080, 8443};
  bool strict = false;
  std::filesystem::path report_file;
  std::filesystem::path plot_file;
};

constexpr const char* kCrossing = R"(What crosses the link, in both directions:
  TCP to every IPv4 address and port (only to those of --ports if the kernel has no TPROXY). The
  connection is accepted behind the link and forwarded over an ordinary connection. So the outer
  network delays the first byte, not the handshake, and the command sees a refused connection as a
  reset one.
  DNS to every address (UDP and TCP port 53). /etc/resolv.conf names 192.0.2.1, which forwards to
  the resolvers of this machine.
  Other ports of 192.0.2.1 are those of this machine's loopback: the command reaches a server on
  127.0.0.1:8000 as http://192.0.2.1:8000/.
What does not cross: IPv6, other UDP (QUIC falls back to TCP), ICMP beyond 192.0.2.1. The command
has its own loopback.
A command run as root has root's user ID, not its rights: it cannot open other users' private
folders, and sudo -u, su and setpriv cannot switch to another user.)";

/// What the command reaches behind the link: the outer network. Errors: those of the relay.
ShellResult<void> carry(LinkedCommand& linked, OutsideRelay& relay) {
  for (auto const sockets : {linked.tcp_listeners(), linked.name_sockets()}) {
    for (Descriptor& socket : sockets) {
      if (auto const done = relay.carry(std::move(socket)); !done) return done;
    }
  }
  return {};
}

bool write_plot(const std::filesystem::path& path, const LinkPlot& plot) {
  auto const written = write_private_file(to_svg(plot), path);
  if (written) return true;
  std::fprintf(stderr, "reprise: --plot %s cannot be written: %s\n", path.c_str(),
               written.error().message().c_str());
  return false;
}

/// Writes what is asked for.
int conclude(const ShapeOptions& options, LinkedCommand& linked, int exit_code) {
  auto const run = linked.finish();
  bool written = linked.log_written();
  if (!options.plot_file.empty()) {
    written = write_plot(options.plot_file, linked.plot()) && written;
  }
  if (!options.report_file.empty()) {
    auto report = to_json(run);
    report["exit_code"] = exit_code;
    written = write_json_file(options.report_file, "--report", report) && written;
  }
  return exit_code_behind_link(exit_code, written, options.strict && !warnings_of(run).empty());
}

int shape(const ShapeOptions& options, const std::vector<std::string>& command) {
  if (command.empty() || options.link.link.empty()) {
    std::fprintf(
        stderr,
        "reprise: shape needs a link and a command: reprise shape --link LINK -- COMMAND\n");
    return kExitUsage;
  }
  if (!are_different_files({{"--report", options.report_file},
                            {"--plot", options.plot_file},
                            {"--link-log", options.link.log_file}})) {
    return kExitUsage;
  }
  if (!can_be_written(options.report_file, "--report") ||
      !can_be_written(options.plot_file, "--plot")) {
    return kExitFailed;
  }
  auto link = options.link;
  link.plotted = !options.plot_file.empty() || !options.report_file.empty();
  auto const linked =
      LinkedCommand::prepare(link,
                             {.all_tcp_ports = true,
                              .tcp_ports = options.ports,
                              .names = true,
                              .resolver_settings = search_settings(kHostResolverSettings)},
                             options.strict);
  if (!linked) return linked.error();
  // Not before the fork: it would be the command's, too.
  ::signal(SIGPIPE, SIG_IGN);
  raise_descriptor_limit();
  net::io_context context(1);
  MainLoop loop(context);
  OutsideRelay relay(context, resolvers_of(kHostResolverSettings));
  if (auto const carried = carry(**linked, relay); !carried) {
    return say(carried.error(), kExitFailed);
  }
  if (auto const number = waiting_signal()) return conclude(options, **linked, 128 + *number);
  if (auto const wrong = (*linked)->start(command, {}); !wrong.empty()) {
    std::fprintf(stderr, "reprise: cannot start %s: %s\n", command.front().c_str(), wrong.c_str());
    return kExitFailed;
  }
  auto const exit_code = loop.run(linked->get(), [] { return std::string(); });
  loop.end_on_second_signal();
  return conclude(options, **linked, exit_code);
}

}  // namespace

void add_shape_command(CLI::App& app, const std::vector<std::string>& command, int& exit_code) {
  auto const options = std::make_shared<ShapeOptions>();
  auto* const sub = add_command(
      app, "shape",
      "Run any command behind an emulated link: reprise shape --link LINK -- COMMAND...");
  sub->footer(kCrossing);
  options->link.add_to(*sub);
  sub->add_option("--ports", options->ports,
                  "Let only these TCP ports cross, where the kernel does not support all")
      ->delimiter(',')
      ->expected(1, static_cast<int>(kShellPortsMax))
      ->capture_default_str();
  sub->add_flag("--strict", options->strict, "Exit with 5 if the link missed its settings");
  sub->add_option("--report", options->report_file, "Write the link's measurements here as JSON");
  sub->add_option("--plot", options->plot_file,
                  "Write an SVG plot of queue, delay and rate over time, for both directions");
  sub->callback([options, command, &exit_code] { exit_code = shape(*options, command); });
}

}  // namespace reprise
