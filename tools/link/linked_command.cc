#include "tools/link/linked_command.h"

#include <cstdio>
#include <random>
#include <utility>

#include "base/text/counted.h"
#include "shaper/description.h"
#include "shaper/packet/self_check.h"
#include "tools/commands.h"
#include "tools/process/command_line.h"
#include "tools/process/process_signals.h"

namespace reprise {

std::string text_of(const ShellError& error) {
  return error.what + (error.fix.empty() ? "" : "; " + error.fix);
}

int say(const ShellError& error, int exit_code) {
  std::fprintf(stderr, "reprise: %s\n", text_of(error).c_str());
  return exit_code;
}

void print_link_warnings(std::span<const std::string> warnings) {
  for (const std::string& warning : warnings) {
    std::fprintf(stderr, "reprise: the link missed its settings: %s\n", warning.c_str());
  }
}

int exit_code_behind_link(int exit_code, bool written, bool missed) {
  if (exit_code != kExitDone) return exit_code;
  if (!written) return kExitFailed;
  return missed ? kExitGate : kExitDone;
}

void LinkOptions::add_to(CLI::App& command) {
  auto const group = "Emulated network (`reprise profiles` lists links)";
  command.add_option("--link", link, "Emulate this link: wpt:4g, 9000/9000/170/1%, ...")
      ->group(group);
  command
      .add_option("--link-seed", seed,
                  "Seed for all random choices [random; record prints it, replay and shape write "
                  "it to --report]")
      ->check(whole_numbers_from(0))
      ->group(group);
  command.add_option("--congestion", congestion, "Use this TCP congestion control on both sides")
      ->check(CLI::IsMember({"cubic", "bbr", "reno"}))
      ->capture_default_str()
      ->group(group);
  command
      .add_flag_function(
          "--realtime,!--no-realtime", [this](std::int64_t count) { realtime = count > 0; },
          "Require real-time priority for the link, or do without [used if permitted]")
      ->group(group);
  command
      .add_flag("--keep-awake", keep_awake,
                "Keep the processors from sleeping: more precise in a virtual machine, but uses "
                "all processor time")
      ->group(group);
  command
      .add_flag("--no-selfcheck", no_self_check,
                "Do not measure the link before the command starts")
      ->group(group);
  command
      .add_option("--link-log", log_file,
                  "Write one line per packet here: arrival, fate, departure")
      ->group(group);
}

WantedPriority LinkOptions::priority() const {
  if (!realtime) return WantedPriority::kBest;
  return *realtime ? WantedPriority::kRealtime : WantedPriority::kOrdinary;
}

std::expected<std::unique_ptr<LinkedCommand>, int> LinkedCommand::prepare(
    const LinkOptions& options, PacketShellOptions wanted, bool strict,
    std::optional<ShellError>* refused) {
  auto profile = parse_link(options.link);
  if (!profile) {
    std::fprintf(stderr, "reprise: --link %s: %s\n", options.link.c_str(), profile.error().c_str());
    return std::unexpected(kExitUsage);
  }
  PacketRun run{.profile = std::move(*profile),
                .seed = options.seed.value_or(std::random_device()()),
                .congestion = options.congestion,
                .keep_awake = options.keep_awake};
  wanted.congestion = options.congestion;
  wanted.command_signals = signal_mask_at_start();
  wanted.own_group = !has_terminal();
  auto shell = PacketShell::start(wanted);
  if (!shell && refused != nullptr) *refused = shell.error();
  if (!shell) {
    return std::unexpected(refused != nullptr ? kExitListen : say(shell.error(), kExitListen));
  }
  auto devices = LinkDevices::open(shell->network());
  if (!devices) return std::unexpected(say(devices.error(), kExitListen));
  std::unique_ptr<LinkedCommand> made(
      new LinkedCommand(std::move(*shell), std::move(*devices), options, std::move(run)));
  made->udp_sockets_ = wanted.udp_ports.size();
  made->name_sockets_ = wanted.names ? kNameSockets : 0;
  if (auto const ended = made->check(strict)) return std::unexpected(*ended);
  if (!options.log_file.empty()) {
    auto log = LinkLog::open(options.log_file);
    if (!log) return std::unexpected(say(log.error(), kExitFailed));
    made->log_ = std::move(*log);
  }
  if (options.plotted) made->series_ = std::make_unique<LinkSeries>(made->run_.profile);
  return made;
}

std::optional<int> LinkedCommand::check(bool strict) {
  auto& network = shell_.network();
  if (options_.no_self_check) {
    run_.self_check.skipped = "--no-selfcheck";
    // What the self-check would have found: a link that this user may not have.
    auto const link = LinkRunner::start(devices_, run_.profile, {.priority = options_.priority()});
    if (!link) return say(link.error(), kExitListen);
    if (options_.keep_awake) awake_.emplace();
  } else {
    auto checked = check_link();
    if (checked && options_.keep_awake) checked = check_awake(std::move(*checked));
    if (!checked) return say(checked.error(), kExitListen);
    run_.self_check = std::move(*checked);
    if (strict && !run_.self_check.deviations.empty()) {
      print_link_warnings(warnings_of(run_));
      return kExitGate;
    }
  }
  network.client_probe.reset();
  network.server_probe.reset();
  return std::nullopt;
}

ShellResult<SelfCheck> LinkedCommand::check_link() {
  return reprise::check_link(devices_, shell_.network(), run_.profile,
                             {.seed = run_.seed, .priority = options_.priority()});
}

/// Keeps the processors awake unless packets are then as late as in `asleep`. What is in force was
/// checked.
ShellResult<SelfCheck> LinkedCommand::check_awake(SelfCheck asleep) {
  awake_.emplace();
  auto awake = check_link();
  if (!awake || should_keep_awake(asleep, *awake)) return awake;
  awake_.reset();
  run_.keep_awake = false;
  std::fprintf(stderr,
               "reprise: --keep-awake does not help on this machine and is not used: packets are "
               "%.0f us late with it, %.0f us without\n",
               to_ms(awake->lateness.p50) * 1e3, to_ms(asleep.lateness.p50) * 1e3);
  return asleep;
}

std::span<Descriptor> LinkedCommand::tcp_listeners() {
  std::span const all(shell_.network().listeners);
  return all.first(all.size() - name_sockets_ - udp_sockets_);
}

std::span<Descriptor> LinkedCommand::udp_sockets() {
  return std::span(shell_.network().listeners)
      .last(name_sockets_ + udp_sockets_)
      .first(udp_sockets_);
}

std::span<Descriptor> LinkedCommand::name_sockets() {
  return std::span(shell_.network().listeners).last(name_sockets_);
}

std::string LinkedCommand::start(const std::vector<std::string>& arguments,
                                 const std::vector<std::string>& environment) {
  auto link = LinkRunner::start(devices_, run_.profile,
                                {.seed = run_.seed,
                                 .priority = options_.priority(),
                                 .far_servers = run_.far_servers,
                                 .log = log_.get(),
                                 .series = series_.get()});
  if (!link) return text_of(link.error());
  link_ = std::move(*link);
  auto const started = shell_.run(arguments, environment);
  return started ? "" : text_of(started.error());
}

PacketRun LinkedCommand::report() const {
  auto run = run_;
  if (link_) run.link = link_->report();
  return run;
}

LinkPlot LinkedCommand::plot() const {
  if (!series_) return {};
  auto const of = [&](LinkSide side, const LinkSettings& settings) {
    return LinkPlot::Direction{.timeline = series_->timeline(side),
                               .rate_limit_bps = static_cast<double>(settings.rate_bps)};
  };
  return {.title = to_text(run_.profile) + ", seed " + std::to_string(run_.seed),
          .down = of(LinkSide::down, run_.profile.down),
          .up = of(LinkSide::up, run_.profile.up)};
}

PacketRun LinkedCommand::finish() {
  if (link_) link_->stop();
  if (log_) {
    auto const closed = log_->close();
    if (!closed) say(closed.error(), kExitFailed);
    log_written_ = closed.has_value();
    if (auto const missing = log_->left_out(); missing > 0) {
      std::fprintf(stderr, "reprise: --link-log %s lacks %s: the disk was too slow\n",
                   options_.log_file.c_str(), counted(missing, "packet").c_str());
    }
  }
  auto run = report();
  if (series_) {
    run.timelines = {.down = series_->timeline(LinkSide::down),
                     .up = series_->timeline(LinkSide::up)};
  }
  print_link_warnings(warnings_of(run));
  return run;
}

}  // namespace reprise
