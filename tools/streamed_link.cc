#include "tools/streamed_link.h"

#include <cstdio>
#include <random>

#include "tools/commands.h"

namespace reprise {
namespace {

/// What only packets can do. Empty when the options ask for nothing of it.
std::string beyond_the_model(const LinkOptions& options) {
  if (options.congestion != "cubic") {
    return "--congestion " + options.congestion + ": the stream shaper models cubic alone";
  }
  if (!options.log_file.empty()) return "--link-log: the stream shaper has no packets to log";
  if (options.realtime) return "--realtime: the stream shaper has no use for it";
  return "";
}

void say_doubts(const StreamRun& run) {
  for (const std::string& doubt : doubts_of(run)) {
    std::fprintf(stderr, "reprise: the link is not what it should be: %s\n", doubt.c_str());
  }
}

}  // namespace

std::expected<std::unique_ptr<StreamedLink>, int> StreamedLink::prepare(
    const LinkOptions& options, const std::string& instead_of, bool strict) {
  auto profile = parse_link(options.link);
  if (!profile) {
    std::fprintf(stderr, "reprise: --link %s: %s\n", options.link.c_str(), profile.error().c_str());
    return std::unexpected(kExitUsage);
  }
  if (auto const beyond = beyond_the_model(options); !beyond.empty()) {
    std::fprintf(stderr, "reprise: %s; %s\n", beyond.c_str(),
                 instead_of.empty() ? "say --shaper packet" : instead_of.c_str());
    return std::unexpected(instead_of.empty() ? kExitUsage : kExitListen);
  }
  StreamRun run{.profile = std::move(*profile),
                .seed = options.seed.value_or(std::random_device()()),
                .instead_of = instead_of};
  if (options.no_self_check) {
    run.self_check.skipped = "--no-selfcheck";
  } else {
    auto checked = check_stream(run.profile, run.seed);
    if (!checked) return std::unexpected(say(checked.error(), kExitListen));
    run.self_check = std::move(*checked);
    if (strict && !run.self_check.deviations.empty()) {
      say_doubts(run);
      return std::unexpected(kExitGate);
    }
  }
  return std::unique_ptr<StreamedLink>(new StreamedLink(std::move(run)));
}

std::string StreamedLink::start(Server& server, std::span<const std::size_t> listeners) {
  StreamShellOptions options{.profile = run_.profile, .seed = run_.seed, .hand_over = {}};
  std::vector<std::size_t> const places(listeners.begin(), listeners.end());
  for (auto const place : places) {
    options.listeners.emplace_back(server.listening_socket(place));
  }
  options.hand_over = [&server, places](StreamArrival arrival) {
    server.take(places[arrival.listener], arrival.socket.release(),
                {.client = arrival.client,
                 .local = arrival.destination,
                 .on_abort = [aborted = arrival.aborted] { *aborted = true; }});
  };
  auto shell = StreamShell::start(std::move(options));
  if (!shell) return shell.error().what;
  shell_ = std::move(*shell);
  return "";
}

void StreamedLink::close_listeners() {
  if (shell_) shell_->close_listeners();
}

StreamRun StreamedLink::report() const {
  auto run = run_;
  if (shell_) run.link = shell_->report();
  return run;
}

StreamRun StreamedLink::finish() {
  if (shell_) shell_->stop();
  auto run = report();
  say_doubts(run);
  return run;
}

}  // namespace reprise
