// `reprise dns`: only the stub resolver, for tools with their own names and addresses.

#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/json.hpp>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "archive/match/match.h"
#include "archive/reader.h"
#include "base/system/json_file.h"
#include "base/system/text_file.h"
#include "base/text/counted.h"
#include "dns/host.h"
#include "dns/hosts_file.h"
#include "dns/plan.h"
#include "dns/server.h"
#include "tools/archive/errors.h"
#include "tools/archive/given_archive.h"
#include "tools/commands.h"
#include "tools/dns/dns_report.h"
#include "tools/process/command_line.h"
#include "tools/process/process_signals.h"
#include "tools/process/signal_events.h"
#include "tools/serve/recorded_hosts.h"

namespace reprise {
namespace {

constexpr std::uintmax_t kHostsBytesMax = 16 << 20;

struct DnsOptions {
  std::string listen = "127.0.0.1:8053";
  std::filesystem::path hosts_file;
  std::filesystem::path archive;
  std::uint32_t session = 0;
  std::string topology = "recorded";
  bool any = false;
  bool allow_remote = false;
  std::filesystem::path ready_file;
  std::filesystem::path report;
};

/// A zone, or an exit code; the error has been printed.
using ZoneOrExit = std::expected<dns::Zone, int>;

ZoneOrExit zone_of_hosts_file(const std::filesystem::path& path) {
  auto const text = read_text_file(path, kHostsBytesMax);
  if (!text) {
    std::fprintf(stderr, "reprise: %s cannot be read: %s\n", path.c_str(),
                 text.error().message().c_str());
    return std::unexpected(kExitFailed);
  }
  auto hosts = dns::parse_hosts(*text);
  for (const auto& problem : hosts.problems) {
    std::fprintf(stderr, "reprise: %s:%zu: %s\n", path.c_str(), problem.line, problem.what.c_str());
  }
  if (!hosts.problems.empty()) return std::unexpected(kExitFailed);
  return std::move(hosts.zone);
}

ZoneOrExit zone_of_archive(const DnsOptions& options) {
  auto const refused = [&](std::error_code error) {
    std::fprintf(stderr, "reprise: %s\n", archive_error_text(options.archive, error).c_str());
    return std::unexpected(kExitArchive);
  };
  auto given = GivenArchive::take(options.archive);
  if (!given) return std::unexpected(given.error());
  auto const archive = ArchiveReader::open(given->path(), {});
  given->remove_copy();
  if (!archive) return refused(archive.error());
  if (!has_session(**archive, options.session)) {
    std::fprintf(stderr, "reprise: %s\n",
                 no_session_text(options.archive, options.session).c_str());
    return std::unexpected(kExitArchive);
  }
  auto const recorded = recorded_hosts(**archive, options.session);
  auto const plan = dns::Plan::create(recorded, {.single = options.topology == "single"});
  if (!plan) return refused(plan.error());
  for (const auto& host : plan->refused()) {
    std::fprintf(stderr, "reprise: %s: host '%s' skipped: not a domain name\n",
                 options.archive.c_str(), host.substr(0, 80).c_str());
  }
  return plan->zone(options.any);
}

/// The same form as that of `record` and `replay`.
boost::json::object ready_json(const std::string& at) {
  return {{"mode", "dns"},
          {"http", nullptr},
          {"https", nullptr},
          {"proxy", nullptr},
          {"dns", at},
          {"admin", nullptr},
          {"ca_file", nullptr},
          {"ca_spki_sha256", nullptr},
          {"chromium_flags", boost::json::array()},
          {"firefox_prefs", boost::json::object()},
          {"script", nullptr},
          {"pid", ::getpid()}};
}

std::string text_of(const boost::asio::ip::udp::endpoint& at) {
  auto const address = at.address().to_string();
  return (at.address().is_v6() ? "[" + address + "]" : address) + ":" + std::to_string(at.port());
}

int serve(const DnsOptions& options, const boost::asio::ip::udp::endpoint& wanted,
          const dns::Zone& zone) {
  boost::asio::io_context context(1);
  SignalEvents signals(context);
  dns::Responder responder(zone, {});
  dns::Server server(context, responder, {.allow_remote = options.allow_remote});
  auto const bound = server.listen(wanted);
  if (!bound) {
    std::fprintf(stderr,
                 "reprise: cannot listen on %s for --listen: %s. Choose another address with "
                 "--listen ADDR:PORT\n",
                 text_of(wanted).c_str(), bound.error().message().c_str());
    return kExitListen;
  }
  auto const at = text_of(*bound);
  if (!options.ready_file.empty() &&
      !write_json_file(options.ready_file, "--ready-file", ready_json(at))) {
    return kExitFailed;
  }
  std::fprintf(stderr, "dns: %s on %s\n", counted(zone.entries.size(), "name").c_str(), at.c_str());
  signals.listen([&](const signalfd_siginfo& signal) {
    if (static_cast<int>(signal.ssi_signo) != SIGCHLD) context.stop();
  });
  context.run();
  restore_signal_mask();  // a second signal ends the process at once
  std::fprintf(stderr, "dns: %s\n", dns_report_text(responder.counts()).c_str());
  if (options.report.empty()) return kExitDone;
  return write_json_file(options.report, "--report", dns_report_json(responder.counts()))
             ? kExitDone
             : kExitFailed;
}

int run_dns(const DnsOptions& options) {
  if (options.hosts_file.empty() == options.archive.empty()) {
    std::fprintf(stderr, "reprise: dns needs a HOSTS-FILE or --archive ARCHIVE\n");
    return kExitUsage;
  }
  auto const at = dns::parse_endpoint(options.listen, std::nullopt);
  if (!at) {
    std::fprintf(stderr, "reprise: --listen: '%s' is not ADDR:PORT, such as 127.0.0.1:8053\n",
                 options.listen.c_str());
    return kExitUsage;
  }
  if (!at->address().is_loopback() && !options.allow_remote) {
    std::fprintf(stderr,
                 "reprise: --listen %s can be reached from other machines. Add --allow-remote to "
                 "permit it\n",
                 text_of(*at).c_str());
    return kExitUsage;
  }
  if (!are_different_files({{"HOSTS-FILE", options.hosts_file},
                            {"--archive", options.archive},
                            {"--ready-file", options.ready_file},
                            {"--report", options.report}})) {
    return kExitUsage;
  }
  if (!can_be_written(options.report, "--report") ||
      !remove_stale_file(options.ready_file, "--ready-file")) {
    return kExitFailed;
  }
  auto const zone =
      options.archive.empty() ? zone_of_hosts_file(options.hosts_file) : zone_of_archive(options);
  return zone ? serve(options, *at, *zone) : zone.error();
}

}  // namespace

void add_dns_command(CLI::App& app, int& exit_code) {
  auto const options = std::make_shared<DnsOptions>();
  auto* const sub = add_command(
      app, "dns",
      "Run the stub resolver alone: reprise dns HOSTS-FILE, or reprise dns --archive ARCHIVE");
  sub->add_option(
      "HOSTS-FILE", options->hosts_file,
      "File with lines ADDRESS NAME..., as in hosts(5); ADDRESS * is for all other names");
  auto* const archive = sub->add_option(
      "--archive", options->archive, "Answer with the stand-in addresses of the archive's origins");
  sub->add_option("--session", options->session, "Use this recorded session [last complete]")
      ->check(whole_numbers_from(1))
      ->needs(archive);
  sub->add_option("--topology", options->topology,
                  "recorded: one stand-in for each recorded address; single: one for all")
      ->check(CLI::IsMember({"recorded", "single"}))
      ->needs(archive);
  sub->add_flag("--dns-any", options->any, "Answer names that were not recorded, too")
      ->needs(archive);
  sub->add_option("--listen", options->listen,
                  "Listen here, over UDP and TCP; port 0 chooses a free port")
      ->capture_default_str();
  sub->add_flag("--allow-remote", options->allow_remote, "Answer other machines, too");
  sub->add_option("--ready-file", options->ready_file,
                  "Write the address here as JSON once the resolver answers");
  sub->add_option("--report", options->report, "Write the queries here as JSON at the end");
  sub->callback([options, &exit_code] { exit_code = run_dns(*options); });
}

}  // namespace reprise
