#include <spdlog/spdlog.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <cstdio>
#include <fstream>
#include <memory>
#include <optional>
#include <random>

#include "archive/open_file.h"
#include "archive/writer.h"
#include "base/system/json_file.h"
#include "base/text/counted.h"
#include "proxy/record/record_session.h"
#include "tools/archive/errors.h"
#include "tools/commands.h"
#include "tools/load/browsing_options.h"
#include "tools/process/command_line.h"
#include "tools/process/say.h"
#include "tools/record/browse_command.h"
#include "tools/record/record_command.h"
#include "tools/record/record_corpus.h"
#include "tools/serve/handshake_report.h"
#include "tools/serve/time_zone.h"

namespace reprise {
namespace {

void say_archive_error(const std::filesystem::path& path, std::error_code error) {
  std::fprintf(stderr, "reprise: %s\n", archive_error_text(path, error).c_str());
}

std::string megabytes(std::uint64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f MB", static_cast<double>(bytes) / 1e6);
  return text;
}

std::string counters_text(RecordSession::Counters& counters) {
  std::string text =
      counted(counters.complete, "exchange") + ", " + megabytes(counters.body_bytes) + " of bodies";
  if (counters.cut > 0) text += ", " + std::to_string(counters.cut) + " cut short";
  if (counters.failed > 0) text += ", " + std::to_string(counters.failed) + " failed";
  if (counters.blocked > 0) {
    text += " (" + std::to_string(counters.blocked) + " blocked by --block)";
  }
  if (counters.private_refused > 0) {
    text += ", " + std::to_string(counters.private_refused) +
            " refused access to private addresses (--allow-private)";
  }
  if (counters.traces > 0) text += "; " + counted(counters.traces, "server trace") + " fetched";
  if (counters.traces_refused > 0) {
    text += "; " + counted(counters.traces_refused, "server trace") + " not fetched";
  }
  if (counters.injected > 0) {
    text += "; " + injected_text(counters.injected, counters.injected_bytes);
  }
  return text;
}

std::string status_json(RecordSession::Counters& counters, const Serving& serving) {
  boost::json::object status;
  status["mode"] = "record";
  status["complete"] = counters.complete.load();
  status["cut"] = counters.cut.load();
  status["failed"] = counters.failed.load();
  status["blocked"] = counters.blocked.load();
  status["private_refused"] = counters.private_refused.load();
  status["traces"] = counters.traces.load();
  status["traces_refused"] = counters.traces_refused.load();
  status["in_flight"] = counters.in_flight.load();
  status["body_bytes"] = counters.body_bytes.load();
  status["injected"] = counters.injected.load();
  status["injected_bytes"] = counters.injected_bytes.load();
  status["tls_handshakes_failed"] = handshake_report_json(serving.failed_handshakes());
  if (auto const seed = serving.link_seed()) status["link_seed"] = *seed;
  return boost::json::serialize(status);
}

/// This process's own command line, as typed.
std::vector<std::string> own_command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> line;
  for (std::string argument; std::getline(file, argument, '\0');) line.push_back(argument);
  return line;
}

/// Another one in each run.
std::uint64_t random_number() {
  std::random_device entropy;
  return (std::uint64_t{entropy()} << 32) | entropy();
}

SessionInfo new_session(const RecordOptions& options) {
  return {.started = std::chrono::system_clock::now(),
          .tool_version = REPRISE_VERSION,
          .command_line = without_secrets(own_command_line()),
          .random_seed = random_number(),
          .pages = options.urls,
          .time_zone = options.injection.time_zone.empty() ? local_time_zone() : ""};
}

/// A replay gives pages the same values as the recording.
void take_settings(const Injection& injection, SessionInfo& session) {
  session.random_seed = injection.settings.seed;
  session.time_zone = injection.settings.time_zone;
  if (!injection.script) return;
  session.injected_clock = {.start = injection.settings.time,
                            .mode = std::string(to_string(injection.settings.clock))};
}

/// Removes the archive that is to be overwritten, if there is one. Errors: locked, by a recorder.
Result<void> remove_old(const std::filesystem::path& path) {
  auto const old = open_regular_file(path, FileLock::kShared);
  if (!old) {
    if (old.error() == std::errc::no_such_file_or_directory) return {};
    return fail(old.error());
  }
  std::error_code error;
  std::filesystem::remove(path, error);
  if (error) return fail(error);
  return {};
}

struct OpenedOutput {
  std::unique_ptr<ArchiveWriter> archive;
  bool existed = false;  ///< it has older sessions, too
};

/// Prints an error.
std::optional<OpenedOutput> open_output(const RecordOptions& options) {
  if (options.overwrite) {
    if (auto const removed = remove_old(options.output); !removed) {
      say_archive_error(options.named(), removed.error());
      return std::nullopt;
    }
  }
  ArchiveWriter::Options const writing{.fsync = options.fsync};
  bool const exists = options.append && std::filesystem::exists(options.output);
  auto archive = exists ? ArchiveWriter::append(options.output, writing)
                        : ArchiveWriter::create(options.output, writing);
  if (!archive) {
    say_archive_error(options.named(), archive.error());
    return std::nullopt;
  }
  return OpenedOutput{.archive = std::move(*archive), .existed = exists};
}

/// Ends or drops the session, and closes the archive.
Result<void> close_archive(ArchiveWriter& archive, bool drop_session) {
  Result<void> closed;
  // A full disk can keep the session from beginning again.
  bool const open = archive.session().has_value();
  if (open) closed = drop_session ? archive.drop_session() : archive.end_session();
  if (closed) closed = archive.close();
  return closed;
}

/// Whether a page could not be loaded, or the command failed before it requested anything. Such an
/// archive must not block the next attempt. `exit_code` is that of the run.
bool recorded_nothing(const RecordOptions& options, const std::vector<std::string>& command,
                      int exit_code, const RecordSession::Counters& counters) {
  auto const responses = counters.complete + counters.cut;
  if (!options.urls.empty()) return responses == 0;
  return !command.empty() && exit_code != kExitDone && responses + counters.failed == 0;
}

/// Leaves no new archive without an exchange. Returns the exit code.
int leave_nothing(const RecordOptions& options, bool existed, int exit_code) {
  bool const joins = !options.joins.empty();
  if (!existed) std::filesystem::remove(options.output);
  std::fprintf(stderr, "reprise: nothing was recorded: %s %s\n", options.named().c_str(),
               existed || joins ? "is unchanged" : "was not created");
  return exit_code == kExitDone ? int{kExitFailed} : exit_code;
}

int record_list(const RecordOptions& options, const CLI::App& sub) {
  if (options.append || !options.load_report.empty() || !options.urls.empty()) {
    std::fprintf(stderr,
                 "reprise: --urls cannot be combined with URLs, --append or --load-report: each "
                 "page gets its own archive and report\n");
    return kExitUsage;
  }
  CorpusOptions corpus{.list = options.url_list,
                       .folder = options.output,
                       .retries = options.retries,
                       .timeout = std::chrono::seconds(options.timeout_s),
                       .record_arguments = passed_on(sub)};
  if (!options.browser.empty()) corpus.browser = options.browser;
  for (const std::string& each : options.injection.inject) {
    corpus.check.replay_arguments.insert(corpus.check.replay_arguments.end(), {"--inject", each});
  }
  corpus.check.browsing_arguments = BrowsingOptions{.timeout_s = options.timeout_s,
                                                    .quiet_ms = options.quiet_ms,
                                                    .settle_ms = options.settle_ms,
                                                    .device = options.device,
                                                    .no_bodies = true,
                                                    .dom = true,
                                                    .browser_flags = options.browser_flags}
                                        .arguments();
  corpus.check.time_limit = load_time_limit(corpus.timeout);
  return record_corpus(corpus);
}

}  // namespace

std::vector<std::string> passed_on(const CLI::App& command) {
  std::vector<std::string> arguments;
  for (const CLI::Option* const option : command.get_options()) {
    auto const name = option->get_name();
    bool const own = name == "--urls" || name == "--output" || name == "--retries";
    if (own || option->count() == 0 || option->get_positional()) continue;
    // A flag such as --no-realtime is the "false" of its option.
    for (const std::string& value : option->results()) {
      // CLI11 would take the next word for the value of "--origin-ca=".
      if (value.empty()) {
        arguments.insert(arguments.end(), {name, value});
      } else {
        arguments.push_back(name + "=" + value);
      }
    }
  }
  return arguments;
}

int record(const RecordOptions& options, const std::vector<std::string>& command) {
  if (!are_different_files({{"-o", options.output},
                            {"ARCHIVE", options.joins},
                            {"--load-report", options.load_report},
                            {"--ready-file", options.serving.ready_file},
                            {"--link-log", options.serving.link.log_file}})) {
    return kExitUsage;
  }
  auto dialing = options.origins.dialing();
  auto rules = options.origins.rules();
  if (!dialing || !rules) return kExitUsage;
  auto session_info = new_session(options);
  auto injection = make_injection(options.injection, session_info);
  if (!injection) return injection.error();
  take_settings(*injection, session_info);
  auto served = options.serving;
  served.browser_script = injection->browser_script;
  Serving serving("record", std::move(served), command);
  if (auto const wrong = serving.prepare({})) return *wrong;

  auto const output = open_output(options);
  if (!output) return kExitArchive;
  ArchiveWriter& archive = *output->archive;
  auto const started = std::chrono::steady_clock::now();
  session_info.started = std::chrono::system_clock::now();
  auto const session = archive.begin_session(session_info);
  if (!session) {
    say_archive_error(options.named(), session.error());
    return kExitArchive;
  }

  std::atomic<bool> archive_failed = false;
  dialing->own = serving.bound();
  if (auto const at = serving.names_at()) dialing->names.own = {{at->address(), at->port()}};
  NetworkDialer dialer(std::move(*dialing));
  RecordSession recording(archive, dialer, started,
                          [&](std::error_code error) {
                            archive_failed = true;
                            std::fprintf(stderr, "\nreprise: %s cannot be written: %s. %s\n",
                                         options.named().c_str(), error.message().c_str(),
                                         options.joins.empty()
                                             ? "Everything recorded so far is intact"
                                             : "It is unchanged");
                            serving.stop(kExitArchive);
                          },
                          std::move(injection->script),
                          {.all = options.origins.allow_private, .start_urls = options.urls});
  recording.change_requests(std::move(*rules));
  if (options.traceparent) recording.add_traces(random_number());
  if (options.trace_urls == "on") recording.fetch_traces({});
  dialer.set_on_answer([&recording](const dns::LookUpAnswer& answer) { recording.keep(answer); });
  auto& counters = recording.counters();
  auto const status = [&] { return status_json(counters, serving); };
  AdminActions const admin{.status = status,
                           .misses = [] { return std::string("[]"); },
                           .reset = {},
                           .clear = [&] { recording.begin_again(session_info); },
                           .stop = [&serving] { serving.stop(kExitDone); }};
  auto exit_code = serving.run(recording, admin,
                               [&counters] { return "recording: " + counters_text(counters); });

  bool const nothing = archive.session() && recorded_nothing(options, command, exit_code, counters);
  if (auto const closed = close_archive(archive, nothing); !closed) {
    if (!archive_failed) say_archive_error(options.named(), closed.error());
    return kExitArchive;
  }
  if (nothing) {
    exit_code = leave_nothing(options, output->existed, exit_code);
  } else {
    std::fprintf(stderr, "recorded %s: %s\n", options.named().c_str(),
                 counters_text(counters).c_str());
  }
  std::fputs(handshake_report_text(serving.failed_handshakes()).c_str(), stderr);
  return archive_failed ? kExitArchive : exit_code;
}

void add_record_command(CLI::App& app, const std::vector<std::string>& command, int& exit_code) {
  auto const options = std::make_shared<RecordOptions>();
  auto* const sub = add_command(
      app, "record",
      "Forward requests and archive them: reprise record -o ARCHIVE [URL... | -- COMMAND...]");
  sub->add_option("-o,--output", options->output, "Archive to write");
  sub->add_option("--joins", options->joins)->group("");  // hidden from users: `archive add`
  sub->add_option("URL", options->urls,
                  "Pages to open in a browser; recording ends when they are quiet")
      ->check(check_page_url);
  sub->add_option("--urls", options->url_list,
                  "Record the pages listed in this file, one URL per line, each into its own "
                  "archive in the folder given by -o");
  sub->add_option("--retries", options->retries, "With --urls: retry a page this many times [2]")
      ->check(CLI::Range(0U, 100U));
  sub->add_option("--browser", options->browser,
                  "With URLs: use this browser, a Chromium [chromium]");
  sub->add_option("--chromium-flag", options->browser_flags,
                  "With URLs: pass this flag to the browser; may be given more than once")
      ->allow_extra_args(false);
  sub->add_flag("--append", options->append, "Add a session to the archive if it exists");
  options->origins.add_to(*sub);
  sub->add_flag("--fsync", options->fsync,
                "Sync the archive to disk, to survive a crash of the machine");
  sub->add_flag("--traceparent", options->traceparent,
                "Add a traceparent header to requests for the page's own site, to find them in the "
                "traces of its servers");
  sub->add_option("--trace-urls", options->trace_urls,
                  "Fetch the traces that servers announce with a URL of their own (Banky-Trace: "
                  "url=...), after the response: on or off [on]")
      ->check(CLI::IsMember({"on", "off"}));
  options->injection.add_to(*sub);
  sub->add_option("--load-report", options->load_report,
                  "With URLs: write the browser's view of the loads here as JSON");
  add_device_option(*sub, options->device);
  sub->add_option("--quiet", options->quiet_ms,
                  "With URLs: end a page after this many ms without requests")
      ->capture_default_str();
  sub->add_option("--settle", options->settle_ms,
                  "With URLs: navigate once the browser has been idle for this many ms in an empty "
                  "page, 10 s at most; 0: at once [500]");
  sub->add_option(
      "--timeout", options->timeout_s,
      "With URLs: give up a page after this many seconds; must be longer than --quiet [30]");
  options->serving.add_to(*sub);
  sub->callback([options, command, sub, &exit_code] {
    // Not CLI11's required(): it would hide other errors on the command line.
    if (options->output.empty()) {
      std::fprintf(stderr, "reprise: record needs -o ARCHIVE\n");
      exit_code = kExitUsage;
      return;
    }
    bool const has_pages = !options->urls.empty() || !options->url_list.empty();
    if (!command.empty() && has_pages) {
      std::fprintf(stderr, "reprise: give either URLs or -- COMMAND, not both\n");
      exit_code = kExitUsage;
      return;
    }
    for (const char* const name : {"--browser", "--chromium-flag", "--device", "--load-report",
                                   "--quiet", "--settle", "--timeout", "--retries"}) {
      if (has_pages || sub->count(name) == 0) continue;
      std::fprintf(stderr, "reprise: %s needs URLs: without them, record opens no browser\n", name);
      exit_code = kExitUsage;
      return;
    }
    auto const wrong = check_quiet(options->timeout_s, options->quiet_ms);
    if (has_pages && !wrong.empty()) {
      std::fprintf(stderr, "reprise: %s\n", wrong.c_str());
      exit_code = kExitUsage;
      return;
    }
    if (has_pages && sub->count("--script-in") > 0 && options->injection.script_in != "browser") {
      std::fprintf(
          stderr,
          "reprise: --script-in documents is for -- COMMAND: record URL gives the script to "
          "its browser\n");
      exit_code = kExitUsage;
      return;
    }
    if (auto const refused = has_pages ? refused_browser(*options) : std::nullopt) {
      exit_code = say(refused->exit_code, refused->text);
      return;
    }
    if (!options->url_list.empty()) {
      exit_code = record_list(*options, *sub);
      return;
    }
    // Our own browser trusts the CA by its flags.
    options->serving.no_child_ca |= !options->urls.empty();
    if (!options->urls.empty()) options->injection.script_in = "browser";
    exit_code = record(*options, options->urls.empty() ? command : browse_command(*options));
  });
}

}  // namespace reprise
