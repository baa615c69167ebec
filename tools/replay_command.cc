#include <signal.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <cstdio>
#include <thread>

#include "archive/reader.h"
#include "proxy/replay/network_lock.h"
#include "proxy/replay/replay.h"
#include "tools/archive_errors.h"
#include "tools/commands.h"
#include "tools/dns_report.h"
#include "tools/injection.h"
#include "tools/json_file.h"
#include "tools/recorded_hosts.h"
#include "tools/serving.h"

namespace reprise {
namespace {

struct ReplayOptions {
  std::filesystem::path archive;
  std::string match = "exact";
  InjectionOptions injection;
  std::string dates = "recorded";
  std::string protocol = "recorded";
  std::string topology = "recorded";
  std::string origin_rtt = "none";
  bool dns_any = false;
  bool dns_chains = false;
  std::uint32_t session = 0;
  bool strict = false;
  bool warm = false;
  std::filesystem::path report;
  ServingOptions serving;
};

/// The archive is mapped: when somebody cuts the file off underneath, touching what is gone raises
/// SIGBUS. Only async-signal-safe calls here.
void end_on_truncated_archive(int) {
  constexpr std::string_view kMessage =
      "\nreprise: the archive was cut off while it was replayed; restore it and start again\n";
  auto const written = ::write(STDERR_FILENO, kMessage.data(), kMessage.size());
  ::_exit(written < 0 ? kExitFailed : kExitArchive);
}

boost::json::array misses_json(const ReplayReport& report) {
  boost::json::array misses;
  for (const Miss& miss : report.distinct_misses) {
    boost::json::array nearest;
    for (const NearMiss& near : miss.nearest) {
      nearest.push_back({{"url", near.url}, {"why", near.why}});
    }
    misses.push_back({{"method", miss.method},
                      {"url", miss.url},
                      {"count", miss.count},
                      {"reason", miss.reason},
                      {"nearest", std::move(nearest)}});
  }
  return misses;
}

boost::json::object synthesised_json(const Synthesised& made) {
  return {{"served_as_h2", made.served_as_h2},
          {"served_as_h1", made.served_as_h1},
          {"connection_fields_removed", made.connection_fields_removed},
          {"reason_phrase_added", made.reason_phrase_added},
          {"framing_added", made.framing_added},
          {"trailers_removed", made.trailers_removed}};
}

boost::json::array tls_hosts_json(const ReplayReport& report) {
  boost::json::array hosts;
  for (const TlsHost& each : report.tls_hosts) {
    hosts.push_back({{"host", each.host},
                     {"port", each.port},
                     {"protocol", each.protocol},
                     {"assumed", each.assumed}});
  }
  return hosts;
}

/// What the user must know who takes the replay for the recording.
std::string synthesised_text(const Synthesised& made) {
  auto const count = [](std::uint64_t number, const char* what) {
    return number > 0 ? ", " + std::to_string(number) + what : "";
  };
  return std::to_string(made.responses()) + " responses in another version than recorded" +
         count(made.served_as_h2, " as h2") + count(made.served_as_h1, " as HTTP/1.1") +
         count(made.connection_fields_removed, " connection fields left out") +
         count(made.reason_phrase_added, " reason phrases added") +
         count(made.framing_added, " framings added") +
         count(made.trailers_removed, " trailers left out");
}

boost::json::object report_json(const ReplayReport& report) {
  return {{"schema", "reprise-replay-report/1"},
          {"mode", "replay"},
          {"session", report.session},
          {"hits", report.counts.hits},
          {"misses", report.counts.misses},
          {"damaged", report.counts.damaged},
          {"misdirected", report.counts.misdirected},
          {"synthesised", synthesised_json(report.synthesised)},
          {"tls_hosts", tls_hosts_json(report)},
          {"exchanges_servable", report.counts.exchanges_servable},
          {"exchanges_served", report.counts.exchanges_served},
          {"distinct_misses", misses_json(report)}};
}

std::string counts_text(const ReplayCounts& counts) {
  std::string text = std::to_string(counts.hits) + " hits, " + std::to_string(counts.misses) +
                     " misses, " + std::to_string(counts.exchanges_served) + " of " +
                     std::to_string(counts.exchanges_servable) + " exchanges used";
  if (counts.damaged > 0) text += ", " + std::to_string(counts.damaged) + " damaged";
  return text;
}

bool write_report(const std::filesystem::path& path, const ReplayReport& report,
                  const Injection& injection, const Serving& serving) {
  auto json = report_json(report);
  if (injection.script) json["injection"] = injection_json(injection, report);
  if (auto const link = serving.link_report()) json["link"] = *link;
  if (auto const* const responder = serving.responder()) {
    json["dns"] = dns_report_json(responder->counts());
  }
  return write_json_file(path, "--report", json);
}

Protocol protocol_of(const std::string& text) {
  if (text == "h1") return Protocol::kH1;
  return text == "h2" ? Protocol::kH2 : Protocol::kRecorded;
}

/// The session that is served; only its number is known where its record is lost.
SessionInfo session_of(const ArchiveReader& archive, std::uint32_t number) {
  if (number == 0) number = Matcher(archive, 0).session();
  auto const& all = archive.sessions();
  auto const found = std::ranges::find(all, number, &SessionInfo::number);
  return found == all.end() ? SessionInfo{.number = number} : *found;
}

int replay(const ReplayOptions& options, const std::vector<std::string>& command) {
  struct sigaction on_truncated{};
  on_truncated.sa_handler = end_on_truncated_archive;
  ::sigaction(SIGBUS, &on_truncated, nullptr);

  auto archive = ArchiveReader::open(options.archive, {.populate = true});
  if (!archive) {
    std::fprintf(stderr, "reprise: %s\n",
                 archive_error_text(options.archive, archive.error()).c_str());
    return kExitArchive;
  }
  for (const std::string& remark : (*archive)->report().remarks) {
    std::fprintf(stderr, "reprise: %s: %s\n", options.archive.c_str(), remark.c_str());
  }
  if ((*archive)->sessions().empty() || options.session > (*archive)->sessions().size()) {
    std::fprintf(stderr, "reprise: %s: there is no session %u; it holds %zu\n",
                 options.archive.c_str(), options.session, (*archive)->sessions().size());
    return kExitArchive;
  }

  auto const injection = make_injection(options.injection, session_of(**archive, options.session));
  if (!injection) return injection.error();

  Naming naming{.hosts = recorded_hosts(**archive, options.session),
                .single = options.topology == "single",
                .any = options.dns_any,
                .chains = options.dns_chains};
  if (options.origin_rtt == "recorded") {
    naming.round_trips = recorded_round_trips(**archive, options.session);
  }
  Serving serving("replay", options.serving, command);
  if (auto const wrong = serving.prepare(naming)) return *wrong;
  if (auto const locked = deny_outgoing_connections(); !locked) {
    std::fprintf(stderr, "reprise: cannot shut the replay off from the network (seccomp): %s\n",
                 locked.error().message().c_str());
    return kExitListen;
  }

  Replay replayed(**archive, {.session = options.session,
                              .protocol = protocol_of(options.protocol),
                              .script = injection->script});
  if (options.warm) replayed.warm();
  // Documents are rewritten while the browser starts, not while it waits for them.
  std::jthread const warming([&](const std::stop_token& stop) { replayed.warm_documents(stop); });
  AdminActions const admin{
      .status = [&] { return boost::json::serialize(report_json(replayed.report())); },
      .misses = [&] { return boost::json::serialize(misses_json(replayed.report())); },
      .reset = [&] { replayed.reset(); },
      .stop = [&] { serving.stop(kExitDone); }};
  auto exit_code =
      serving.run(replayed, admin, [&] { return "replaying: " + counts_text(replayed.counts()); });

  auto const report = replayed.report();
  std::fprintf(stderr, "replayed %s: %s\n", options.archive.c_str(),
               counts_text(report.counts).c_str());
  if (report.synthesised.responses() > 0) {
    std::fprintf(stderr, "synthesised: %s\n", synthesised_text(report.synthesised).c_str());
  }
  if (auto const* const asked = serving.responder(); asked && asked->counts().missing > 0) {
    std::fprintf(stderr, "names: %s\n", dns_report_text(asked->counts()).c_str());
  }
  if (report.counts.injected > 0) {
    std::fprintf(stderr, "injected: %s\n",
                 injected_text(report.counts.injected, report.counts.injected_bytes).c_str());
  }
  if (!options.report.empty() && !write_report(options.report, report, *injection, serving)) {
    return kExitFailed;
  }
  if (exit_code == kExitDone && options.strict && report.counts.misses > 0) return kExitGate;
  return exit_code;
}

}  // namespace

void add_replay_command(CLI::App& app, const std::vector<std::string>& command, int& exit_code) {
  auto const options = std::make_shared<ReplayOptions>();
  auto* const sub = app.add_subcommand(
      "replay", "Serve from an archive, never from the network: reprise replay A [-- COMMAND...]");
  sub->add_option("ARCHIVE", options->archive, "What record wrote")->required();
  sub->add_option("--match", options->match, "Only 'exact' until fuzzy matching is built")
      ->check(CLI::IsMember({"exact"}));
  options->injection.add_to(*sub);
  sub->add_option("--dates", options->dates, "Only 'recorded' (byte-exact) until shifting is built")
      ->check(CLI::IsMember({"recorded"}));
  sub->add_option("--session", options->session, "Recorded session (default the last complete one)")
      ->check(CLI::PositiveNumber);
  sub->add_option("--protocol", options->protocol,
                  "HTTP version over TLS: as each host was recorded, or one for all")
      ->check(CLI::IsMember({"recorded", "h1", "h2"}))
      ->capture_default_str();
  sub->add_option("--topology", options->topology,
                  "recorded: an address for each recorded one; single: one for all")
      ->check(CLI::IsMember({"recorded", "single"}))
      ->capture_default_str();
  sub->add_option("--origin-rtt", options->origin_rtt,
                  "recorded: each origin as far behind the link as it was when it was recorded")
      ->check(CLI::IsMember({"none", "recorded"}))
      ->capture_default_str();
  sub->add_flag("--dns-any", options->dns_any, "Hosts that were not recorded have an address, too");
  sub->add_flag("--dns-chains", options->dns_chains,
                "The resolver answers with the recorded CNAMEs and lifetimes");
  sub->add_flag("--strict", options->strict,
                "Exit with 5 when anything was missed, or the link was not what it should be");
  sub->add_flag("--warm", options->warm, "Prepare every response before the first request");
  sub->add_option("--report", options->report, "Write hits and misses here as JSON at the end");
  sub->add_option("--threads", options->serving.threads, "Threads that serve")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  options->serving.add_to(*sub);
  sub->callback([options, command, &exit_code] {
    options->serving.strict = options->strict;
    exit_code = replay(*options, command);
  });
}

}  // namespace reprise
