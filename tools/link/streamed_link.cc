#include "tools/link/streamed_link.h"

#include <boost/asio/post.hpp>
#include <cstdio>
#include <random>

#include "tools/commands.h"

namespace reprise {
namespace {

/// What only packets can do. Empty when the options ask for nothing of it.
std::string beyond_the_model(const LinkOptions& options) {
  if (options.congestion != "cubic") {
    return "--congestion " + options.congestion + ": --shaper stream models cubic only";
  }
  if (!options.log_file.empty())
    return "--link-log cannot be used with --shaper stream, which has no packets";
  if (options.realtime == true) return "--realtime has no effect with --shaper stream";
  if (options.keep_awake) return "--keep-awake has no effect with --shaper stream";
  return "";
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
                 instead_of.empty() ? "use --shaper packet" : instead_of.c_str());
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
      print_link_warnings(warnings_of(run));
      return std::unexpected(kExitGate);
    }
  }
  return std::unique_ptr<StreamedLink>(new StreamedLink(std::move(run)));
}

Result<net::ip::udp::endpoint> StreamedLink::listen_for_names(const net::ip::udp::endpoint& at,
                                                              dns::Server& names,
                                                              net::io_context& context) {
  auto const bound = dns::bind_sockets(at);
  if (!bound) return fail(bound.error());
  names_.emplace(names, context, Descriptor(bound->datagrams), Descriptor(bound->listener));
  if (at.address().is_unspecified()) Datagram::prepare(bound->datagrams);
  return bound->at;
}

std::string StreamedLink::start(Server& server, std::span<const std::size_t> listeners) {
  StreamShellOptions options{.profile = run_.profile, .seed = run_.seed};
  std::vector<std::size_t> const places(listeners.begin(), listeners.end());
  for (auto const place : places) {
    options.listeners.emplace_back(server.listening_socket(place));
  }
  options.hand_over = [this, &server, places](StreamArrival arrival) {
    if (arrival.listener == places.size()) {
      net::post(names_->context, [this, socket = std::move(arrival.socket)]() mutable {
        names_->server.take(socket.release());
      });
      return;
    }
    server.take(places[arrival.listener], arrival.socket.release(),
                {.client = arrival.client,
                 .local = arrival.destination,
                 .on_abort = [aborted = arrival.aborted] { *aborted = true; }});
  };
  if (names_) {
    options.listeners.push_back(std::move(names_->listener));
    options.question_sockets.push_back(std::move(names_->datagrams));
    options.ask = [this](StreamQuestion question) {
      net::post(names_->context, [this, question = std::move(question)] { answer(question); });
    };
  }
  auto shell = StreamShell::start(std::move(options));
  if (!shell) return shell.error().what;
  shell_ = std::move(*shell);
  return "";
}

void StreamedLink::answer(const StreamQuestion& question) {
  auto const* const asked = reinterpret_cast<const std::uint8_t*>(question.bytes.data());
  names_->server.answer({asked, question.bytes.size()},
                        [this, id = question.id](const std::vector<std::uint8_t>& reply) {
                          auto const bytes = std::as_bytes(std::span(reply));
                          shell_->answer(id, {bytes.begin(), bytes.end()});
                        });
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
  print_link_warnings(warnings_of(run));
  return run;
}

}  // namespace reprise
