#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/read_until.hpp>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>

#include "base/text/printable.h"
#include "tools/commands.h"
#include "tools/process/command_line.h"
#include "tools/process/descriptor_limit.h"
#include "tools/process/signal_events.h"
#include "tools/tsproxy/settings.h"
#include "tools/tsproxy/tunnels.h"

namespace reprise {
namespace {

constexpr std::size_t kLineBytesMax = 65536;

struct TsproxyOptions {
  std::string bind = "localhost";
  std::uint16_t port = 1080;
  tsproxy::Settings settings;
  std::string ports;
  tsproxy::TunnelOptions tunnels;
};

/// Callers read lines from a pipe: each must be there at once.
void print_line(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

/// Ends the program. Open connections are cut: no caller waits for their end.
[[noreturn]] void end_now() {
  std::fflush(nullptr);
  ::_exit(kExitDone);
}

/// Runs the commands on standard input; ends with it. Tunnels live on.
awaitable<void> obey(net::posix::stream_descriptor input, tsproxy::Tunnels& tunnels) {
  std::string text;
  while (true) {
    auto const [error, size] = co_await net::async_read_until(
        input, net::dynamic_buffer(text, kLineBytesMax), '\n', kTuple);
    if (error) co_return;
    auto settings = tunnels.settings();
    auto const done = tsproxy::run_command(text.substr(0, size), settings);
    text.erase(0, size);
    if (!done) {
      std::fprintf(stderr, "reprise: %s\n", printable(done.error()).c_str());
      print_line("ERROR");
      continue;
    }
    if (*done == tsproxy::Command::kNone) continue;
    tunnels.change(settings);
    print_line("OK");
    if (*done == tsproxy::Command::kExit) end_now();
  }
}

/// Callers take a host without colons from the line, so only IPv4 is listened on.
Result<tcp::endpoint> address_of(net::io_context& context, const TsproxyOptions& options) {
  boost::system::error_code error;
  tcp::resolver resolver(context);
  auto const found = resolver.resolve(tcp::v4(), options.bind, std::to_string(options.port), error);
  if (error) return fail(error);
  return found.begin()->endpoint();
}

int serve(const TsproxyOptions& options) {
  net::io_context context(1);
  SignalEvents signals(context);
  tsproxy::Tunnels tunnels(context, options.tunnels, options.settings);
  auto const at = address_of(context, options);
  auto const bound = at ? tunnels.listen(*at) : fail(at.error());
  if (!bound) {
    print_line("Unable to listen on " + options.bind + ":" + std::to_string(options.port) +
               ". Is the port already in use?");
    std::fprintf(stderr, "reprise: cannot listen on %s:%u: %s. Choose another port with --port\n",
                 printable(options.bind).c_str(), options.port, bound.error().message().c_str());
    return kExitFailed;
  }
  if (!bound->address().is_loopback()) {
    std::fprintf(stderr, "reprise: other machines can reach the proxy (--bind %s)\n",
                 printable(options.bind).c_str());
  }
  raise_descriptor_limit();
  print_line("Started Socks5 proxy server on " + to_text(*bound) + "\nHit Ctrl-C to exit.");
  signals.listen([](const signalfd_siginfo& signal) {
    if (static_cast<int>(signal.ssi_signo) != SIGCHLD) end_now();
  });
  net::posix::stream_descriptor input(context);
  boost::system::error_code error;
  input.assign(::dup(STDIN_FILENO), error);
  if (!error) {
    net::co_spawn(context, obey(std::move(input), tunnels), [](std::exception_ptr) {});
  }
  context.run();
  return kExitDone;
}

int run_tsproxy(TsproxyOptions& options) {
  auto ports = tsproxy::PortMap::parse(options.ports);
  auto const link = tsproxy::check_link(options.settings);
  if (!ports || !link) {
    std::fprintf(stderr, "reprise: %s\n", printable(ports ? link.error() : ports.error()).c_str());
    return kExitUsage;
  }
  options.settings.ports = std::move(*ports);
  return serve(options);
}

}  // namespace

void add_tsproxy_command(CLI::App& app, int& exit_code) {
  auto const options = std::make_shared<TsproxyOptions>();
  auto* const sub = add_command(
      app, "tsproxy", "Run a SOCKS5 proxy behind a modelled link, by tsproxy's command line");
  sub->add_option("-b,--bind", options->bind, "Listen on this address")->capture_default_str();
  sub->add_option("-p,--port", options->port, "Listen on this port; 0 chooses a free one")
      ->capture_default_str();
  sub->add_option("-r,--rtt", options->settings.rtt, "Round trip in ms")->capture_default_str();
  sub->add_option("-i,--inkbps", options->settings.inkbps,
                  "Rate to the client in 1000 bit/s; 0: any")
      ->capture_default_str();
  sub->add_option("-o,--outkbps", options->settings.outkbps,
                  "Rate from the client in 1000 bit/s; 0: any")
      ->capture_default_str();
  sub->add_option("-d,--desthost", options->tunnels.destination,
                  "Connect to this host instead of those asked for");
  sub->add_option("-m,--mapports", options->ports,
                  "Connect to other ports: 443:8443,*:8080, where * is any");
  sub->add_flag("-l,--localhost", options->tunnels.redirect_local,
                "Apply --desthost and --mapports to localhost, too");
  // Of the other tool, without a meaning here.
  static constexpr auto kIgnored = "Ignored: this proxy has no such thing";
  sub->add_option("-w,--window", kIgnored)->expected(1);
  sub->add_option("--logfile", kIgnored)->expected(1);
  sub->add_flag("-v,--verbose", kIgnored);
  sub->add_flag("-n,--nodnscache", kIgnored);
  sub->add_flag("-f,--flushdnscache", kIgnored);
  sub->callback([options, &exit_code] { exit_code = run_tsproxy(*options); });
}

}  // namespace reprise
