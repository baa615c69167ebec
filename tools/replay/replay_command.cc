#include <signal.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>
#include <cstdio>
#include <random>
#include <set>
#include <thread>

#include "archive/reader.h"
#include "base/system/clock.h"
#include "base/system/json_file.h"
#include "base/text/counted.h"
#include "proxy/replay/network_lock.h"
#include "proxy/replay/replay_session.h"
#include "proxy/replay/response/prepared_cache.h"
#include "tools/commands.h"
#include "tools/dns/dns_report.h"
#include "tools/process/command_line.h"
#include "tools/process/process_signals.h"
#include "tools/replay/opened_replay.h"
#include "tools/replay/replay_command.h"
#include "tools/replay/replay_report.h"
#include "tools/serve/h3_offers.h"
#include "tools/serve/handshake_report.h"
#include "tools/serve/recorded_hosts.h"
#include "tools/serve/spoken_protocols.h"
#include "tools/serve/what_if.h"

namespace reprise {
namespace {

/// The archive is mapped: if another process truncates the file, access to the missing part raises
/// SIGBUS. Only async-signal-safe calls here.
void end_on_truncated_archive(int) {
  constexpr std::string_view kMessage =
      "\nreprise: the archive was truncated during the replay. Restore it and start again\n";
  auto const written = ::write(STDERR_FILENO, kMessage.data(), kMessage.size());
  ::_exit(written < 0 ? kExitFailed : kExitArchive);
}

boost::json::object report_json(const ReplayReport& report, const Serving& serving) {
  auto json = replay_report_json(report);
  json["tls_handshakes_failed"] = handshake_report_json(serving.failed_handshakes());
  return json;
}

/// `processor_time` is this process's, since it serves.
bool write_report(const std::filesystem::path& path, const ReplayReport& report,
                  const Injection& injection, const Serving& serving, const WhatIfArchive& what_if,
                  std::uint64_t think_seed,
                  std::chrono::duration<double, std::milli> processor_time) {
  auto json = report_json(report, serving);
  if (!what_if.effects().empty()) {
    json["what_if"] = what_if_json(what_if.effects());
    json["think_seed"] = think_seed;
  }
  json["processor_ms"] = processor_time.count();
  if (injection.script) json["injection"] = injection_json(injection, report);
  if (auto const link = serving.link_report()) json["link"] = *link;
  if (auto const* const responder = serving.responder()) {
    json["dns"] = dns_report_json(responder->counts());
  }
  return write_json_file(path, "--report", json);
}

Timing timing_of(const ReplayOptions& options, const whatif::Conditions& conditions) {
  Timing timing{.think = ThinkTime::parse(options.think_time).value_or(ThinkTime()),
                .rules = conditions.think};
  if (options.pace == "all") timing.pace = Pace::kAll;
  if (options.pace == "none") timing.pace = Pace::kNone;
  return timing;
}

std::string check_think_time(const std::string& text) {
  if (ThinkTime::parse(text)) return {};
  return "must be none, recorded, xFACTOR or milliseconds, at most one day: x0.5, 30";
}

/// Why hosts that are to share the page's connection cannot; empty: they can, or there are none.
std::string why_not_coalesced(const TlsPlans& plans, const TlsChanges& changes) {
  if (changes.coalesced.empty()) return {};
  if (changes.page.empty()) return "--what-if coalesce: the recording has no page";
  if (plans.of(changes.page, default_port(Scheme::kHttps)).alpn == "h2") return {};
  return "--what-if coalesce: " + changes.page +
         " speaks HTTP/1.1, over which hosts cannot share a connection; add --what-if 'host=" +
         changes.page + ": protocol=h2'";
}

/// The served session; only its number is known if its record is lost.
SessionInfo session_of(const ArchiveReader& archive, std::uint32_t number) {
  if (number == 0) number = session_to_replay(archive);
  auto const& all = archive.sessions();
  auto const found = std::ranges::find(all, number, &SessionInfo::number);
  return found == all.end() ? SessionInfo{.number = number} : *found;
}

/// How HTTP/3 is served with `protocol`, as --protocol says it; nothing: not at all. Adds the hosts
/// that offered it to `changes`, except those that a what-if changes to another protocol.
std::optional<H3Serving> h3_serving(const ArchiveReader& archive, std::uint32_t session,
                                    const std::string& protocol, TlsChanges& changes) {
  H3Serving h3;
  if (protocol == "recorded" || protocol == "h3-known") {
    for (const H3Offer& each : h3_offers(archive, session)) {
      if (changes.h3.contains(each.host) || changes.alpn.contains(each.host)) continue;
      h3.offered.insert(each.host);
      h3.udp_ports.insert(each.udp_port);
    }
  }
  if (protocol == "h3-known") {
    changes.h3.merge(std::exchange(h3.offered, {}));
    if (changes.h3.empty()) {
      std::fprintf(stderr,
                   "reprise: --protocol h3-known: no host of the recording offered HTTP/3\n");
    }
  }
  changes.h3_offers = std::move(h3.offered);
  changes = with_shared_h3(std::move(changes));
  h3.offered = changes.h3_offers;
  h3.required = protocol != "recorded" || !changes.h3.empty();
  if (protocol != "h3" && changes.h3.empty() && h3.offered.empty()) return std::nullopt;
  TlsPlans const plans(archive, session, protocol_of(protocol), changes);
  for (TlsHost& each : plans.hosts()) {
    if (!plans.speaks_h3(each.host) || h3.offered.contains(each.host)) continue;
    h3.udp_ports.insert(each.port);
    h3.led.emplace_back(std::move(each.host), each.port);
  }
  return h3;
}

/// How much later dates are now than when the session was recorded.
std::chrono::seconds date_shift(const ReplayOptions& options, const SessionInfo& recorded) {
  bool const known = recorded.started != std::chrono::system_clock::time_point();
  if (options.dates == "recorded" || !known) return {};
  return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now() -
                                                  recorded.started);
}

/// For an option that has no effect with this recording.
void tell_no_times(const char* option, const std::string& value) {
  std::fprintf(stderr, "reprise: %s %s: this recording has no times for it, so nothing waits\n",
               option, value.c_str());
}

Naming naming_of(const ArchiveReader& archive, const ReplayOptions& options,
                 const whatif::Conditions& conditions) {
  Naming naming{.hosts = recorded_hosts(archive, options.session),
                .single = options.topology == "single",
                .any = options.dns_any,
                .chains = options.dns_chains};
  auto const dns_time = ThinkTime::parse(options.dns_time).value_or(ThinkTime());
  bool const has_delay =
      delay_answers(archive, options.session, dns_time, *naming.hosts, naming.other_delays);
  if (dns_time.needs_recorded() && !has_delay) tell_no_times("--dns-time", options.dns_time);
  naming.needs_resolver = dns_time.kind == ThinkTime::Kind::kFixed;
  if (options.origin_rtt == "recorded") {
    naming.needs_packets = true;
    naming.round_trips = recorded_round_trips(archive, options.session);
    if (naming.round_trips.empty()) tell_no_times("--origin-rtt", options.origin_rtt);
  }
  change_naming(conditions, naming);
  return naming;
}

/// `tls`: what the conditions say, with the hosts that serve HTTP/3.
ReplaySession::Options session_options(const ReplayOptions& options, const WhatIfArchive& what_if,
                                       const TlsChanges& tls, const Injection& injection,
                                       std::chrono::seconds shift) {
  std::set<std::uint64_t> changed_bodies;
  for (const whatif::Effect& effect : what_if.effects()) {
    changed_bodies.insert(effect.changed_bodies.begin(), effect.changed_bodies.end());
  }
  return {.session = options.session,
          .protocol = protocol_of(options.protocol),
          .match = {.exact_only = options.match == "exact",
                    .ignored_params = options.ignored_params,
                    .failures = options.failures == "recorded",
                    .repeats = options.repeats},
          .script = injection.script,
          .timing = timing_of(options, what_if.conditions()),
          .date_shift = shift,
          .tls = tls,
          .changed_bodies = std::move(changed_bodies),
          .empty_misses = options.empty_misses};
}

/// Prepares every exchange, until a signal is waiting, which stays pending and ends Serving::run().
void warm(ReplaySession& replayed) {
  auto const left_out = replayed.warm([] { return waiting_signal().has_value(); });
  if (left_out == 0) return;
  std::fprintf(stderr,
               "reprise: --warm: memory limit reached (%zu MiB): %s will be prepared on first "
               "request\n",
               PreparedCache::kRoomBytesMax >> 20, counted(left_out, "response").c_str());
}

void print_summary(const ReplayOptions& options, const ReplayReport& report,
                   const Serving& serving) {
  std::fprintf(stderr, "replayed %s: %s\n", options.archive.c_str(),
               counts_text(report.counts).c_str());
  std::fputs(misses_text(report.distinct_misses).c_str(), stderr);
  std::fputs(differences_text(report).c_str(), stderr);
  std::fputs(handshake_report_text(serving.failed_handshakes()).c_str(), stderr);
  if (auto const* const asked = serving.responder(); asked && asked->counts().missing > 0) {
    std::fprintf(stderr, "names: %s\n", dns_report_text(asked->counts()).c_str());
  }
  if (report.counts.injected > 0) {
    std::fprintf(stderr, "injected: %s\n",
                 injected_text(report.counts.injected, report.counts.injected_bytes).c_str());
  }
  std::fputs(waits_text(report).c_str(), stderr);
}

/// The exit code of a replay that ended with `exit_code`: --strict and --min-confidence can make a
/// success a failure.
int gated(int exit_code, const ReplayCounts& counts, const ReplayOptions& options) {
  if (exit_code != kExitDone) return exit_code;
  if (options.strict && counts.misses > 0) return kExitGate;
  if (counts.confidence < options.min_confidence) {
    std::fprintf(stderr, "reprise: the confidence is %.1f %%, below %g %% (--min-confidence)\n",
                 std::floor(counts.confidence * 10) / 10, options.min_confidence);
    return kExitGate;
  }
  return exit_code;
}

}  // namespace

int replay(const ReplayOptions& options, const std::vector<std::string>& command) {
  struct sigaction on_truncated{};
  on_truncated.sa_handler = end_on_truncated_archive;
  ::sigaction(SIGBUS, &on_truncated, nullptr);

  if (!are_different_files({{"ARCHIVE", options.archive},
                            {"--report", options.report},
                            {"--ready-file", options.serving.ready_file},
                            {"--link-log", options.serving.link.log_file}})) {
    return kExitUsage;
  }
  if (!can_be_written(options.report, "--report")) return kExitFailed;
  auto const think_seed = options.think_seed.value_or(std::random_device()());
  auto const opened = open_replay(options, think_seed);
  if (!opened) return opened.error();
  const ArchiveReader& archive = *opened->archive;
  const WhatIfArchive& what_if = opened->what_if;

  std::fputs(what_if_text(what_if.effects()).c_str(), stderr);
  auto const recorded = session_of(archive, options.session);
  auto const shift = date_shift(options, recorded);
  auto const injection = make_injection(options.injection, recorded, shift);
  if (!injection) return injection.error();

  auto const naming = naming_of(archive, options, what_if.conditions());
  if (ThinkTime::parse(options.think_time).value_or(ThinkTime()).needs_recorded() &&
      !has_think_times(archive, options.session)) {
    tell_no_times("--think-time", options.think_time);
  }
  auto served = options.serving;
  auto tls = what_if.conditions().tls;
  if (options.serves_h3) {
    served.h3 = h3_serving(archive, recorded.number, options.protocol, tls);
  }
  served.browser_script = injection->browser_script;
  Serving serving("replay", std::move(served), command);
  if (auto const wrong = serving.prepare(naming)) return *wrong;
  if (!serving.serves_h3()) tls.h3_offers.clear();
  if (auto const locked = deny_outgoing_connections(); !locked) {
    std::fprintf(stderr, "reprise: cannot deny the replay the network (seccomp): %s\n",
                 locked.error().message().c_str());
    return kExitListen;
  }

  ReplaySession replayed(archive, session_options(options, what_if, tls, *injection, shift));
  if (auto const why = why_not_coalesced(replayed.tls_plans(), tls); !why.empty()) {
    std::fprintf(stderr, "reprise: %s\n", why.c_str());
    return kExitUsage;
  }
  if (options.warm) warm(replayed);
  // Certificates are minted and documents are rewritten while the browser starts, not while it
  // waits for them.
  serving.expect_names(replayed.tls_plans().leaves());
  std::jthread const minting([&](const std::stop_token& stop) { serving.mint_expected(stop); });
  std::jthread const warming([&](const std::stop_token& stop) { replayed.warm_documents(stop); });
  AdminActions const admin{
      .status = [&] { return boost::json::serialize(report_json(replayed.report(), serving)); },
      .misses = [&] { return boost::json::serialize(misses_json(replayed.misses())); },
      .reset = [&] { replayed.reset(); },
      .stop = [&] { serving.stop(kExitDone); }};
  auto const used_before = read_clock(CLOCK_PROCESS_CPUTIME_ID);
  auto const exit_code =
      serving.run(replayed, admin, [&] { return "replaying: " + counts_text(replayed.counts()); });

  auto const report = replayed.report();
  print_summary(options, report, serving);
  auto const used = read_clock(CLOCK_PROCESS_CPUTIME_ID) - used_before;
  if (!options.report.empty() &&
      !write_report(options.report, report, *injection, serving, what_if, think_seed, used)) {
    return kExitFailed;
  }
  return gated(exit_code, report.counts, options);
}

void add_replay_command(CLI::App& app, const std::vector<std::string>& command, int& exit_code) {
  auto const options = std::make_shared<ReplayOptions>();
  auto* const sub = add_command(
      app, "replay",
      "Serve from an archive, never from the network: reprise replay ARCHIVE [-- COMMAND...]");
  sub->add_option("ARCHIVE", options->archive, "Archive, or a recording of another tool")
      ->required();
  sub->add_option("--match", options->match,
                  "fuzzy: answer with the best match if there is no exact one; exact: answer only "
                  "exact matches")
      ->check(CLI::IsMember({"fuzzy", "exact"}))
      ->capture_default_str();
  sub->add_option("--ignore-param", options->ignored_params,
                  "Ignore query and form parameters of this name (* matches any text); may be "
                  "given more than once")
      ->allow_extra_args(false)
      ->type_name("GLOB");
  sub->add_option("--failures", options->failures,
                  "recorded: cut or fail again where the recording was cut or failed; miss: count "
                  "these as misses")
      ->check(CLI::IsMember({"recorded", "miss"}))
      ->capture_default_str();
  options->injection.add_to(*sub);
  sub->add_option(
         "--dates", options->dates,
         "shift: move dates and cookie expiries to the present; recorded: send them byte for byte")
      ->check(CLI::IsMember({"shift", "recorded"}))
      ->capture_default_str();
  sub->add_option("--think-time", options->think_time,
                  "Wait before each answer: none, recorded, the recorded time multiplied (x0.5), "
                  "or milliseconds")
      ->check(check_think_time)
      ->type_name("none|recorded|MS|xF")
      ->capture_default_str();
  sub->add_option("--pace", options->pace,
                  "streams: send event streams as recorded and pause other bodies where their "
                  "origin did; all: send every body at its recorded pace, including the "
                  "recording's bandwidth; none: send as fast as possible")
      ->check(CLI::IsMember({"streams", "all", "none"}))
      ->capture_default_str();
  sub->add_option("--session", options->session, "Serve this recorded session [last complete]")
      ->check(whole_numbers_from(1));
  sub->add_option("--protocol", options->protocol,
                  "Use this HTTP version over TLS: each host's recorded one, or one for all; "
                  "h3-known: HTTP/3 for hosts that offered it, as to a returning visitor")
      ->check(CLI::IsMember({"recorded", "h1", "h2", "h3", "h3-known"}))
      ->capture_default_str();
  sub->add_option("--topology", options->topology,
                  "recorded: one stand-in for each recorded address; single: one for all")
      ->check(CLI::IsMember({"recorded", "single"}))
      ->capture_default_str();
  sub->add_option("--origin-rtt", options->origin_rtt,
                  "recorded: add each origin's recorded round-trip time behind the link")
      ->check(CLI::IsMember({"none", "recorded"}))
      ->capture_default_str();
  sub->add_option("--dns-time", options->dns_time,
                  "Wait before each answer of the resolver: none, recorded, the recorded time "
                  "multiplied (x0.5), or milliseconds")
      ->check(check_think_time)
      ->type_name("none|recorded|MS|xF")
      ->capture_default_str();
  sub->add_flag("--dns-any", options->dns_any, "Answer names that were not recorded, too");
  sub->add_flag("--dns-chains", options->dns_chains, "Answer with the recorded CNAMEs and TTLs");
  sub->add_option("--what-if", options->what_ifs,
                  "Change the replay: what the filter selects gets the action, such as "
                  "'type=script: defer'; @FILE reads lines; may be given more than once")
      ->allow_extra_args(false)
      ->type_name("'FILTER: ACTION'");
  sub->add_flag("--idle-what-ifs", options->idle_what_ifs)->group("");  // of a load
  sub->add_option("--think-seed", options->think_seed,
                  "Seed of the think times that a what-if draws from a file [random]")
      ->check(whole_numbers_from(0));
  sub->add_flag("--strict", options->strict,
                "Exit with 5 if there was a miss or the link missed its settings");
  sub->add_option("--min-confidence", options->min_confidence,
                  "Exit with 5 if the mean score of all requests is below this percentage")
      ->check(numbers_between(0, 100))
      ->type_name("PCT");
  sub->add_flag("--warm", options->warm, "Prepare every response before the first request");
  sub->add_option("--report", options->report, "Write hits and misses here as JSON at the end");
  sub->add_option("--threads", options->serving.threads, "Serve with this many threads")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  options->serving.add_to(*sub);
  sub->callback([options, command, &exit_code] {
    options->serving.strict = options->strict;
    options->serving.link.plotted = !options->report.empty();
    exit_code = replay(*options, command);
  });
}

}  // namespace reprise
