#include "tools/serve/injection.h"

#include <time.h>

#include <boost/json.hpp>
#include <charconv>
#include <cstdio>
#include <tuple>

#include "base/system/text_file.h"
#include "base/text/counted.h"
#include "base/text/printable.h"
#include "tools/commands.h"
#include "tools/process/command_line.h"
#include "tools/serve/time_zone.h"

namespace reprise {
namespace {

constexpr std::uintmax_t kFileBytesMax = 16 << 20;

std::unexpected<int> wrong(const std::string& what) {
  std::fprintf(stderr, "reprise: %s\n", what.c_str());
  return std::unexpected<int>(kExitUsage);
}

/// Since the epoch. Dates of pages end at 8.64e15 ms; their clocks move on from here.
bool is_possible_start(std::chrono::milliseconds time) {
  constexpr std::chrono::milliseconds kMax{8'600'000'000'000'000};
  return time.count() >= 0 && time <= kMax;
}

/// Milliseconds since the epoch, or a time in UTC ("2026-03-01T12:00:00Z").
std::optional<std::chrono::milliseconds> parse_time(const std::string& text) {
  std::int64_t ms = 0;
  auto const* const end = text.data() + text.size();
  std::chrono::milliseconds time{};
  if (auto const number = std::from_chars(text.data(), end, ms); number.ptr == end) {
    if (number.ec != std::errc()) return std::nullopt;
    time = std::chrono::milliseconds(ms);
  } else {
    tm parts{};
    auto const* const rest = ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts);
    if (rest == nullptr || *rest != '\0') return std::nullopt;
    // timegm() makes a date of February 31, too.
    auto real = parts;
    time = std::chrono::seconds(::timegm(&real));
    auto const fields_of = [](const tm& of) {
      return std::tuple(of.tm_mon, of.tm_mday, of.tm_hour, of.tm_min, of.tm_sec);
    };
    if (fields_of(real) != fields_of(parts)) return std::nullopt;
  }
  return is_possible_start(time) ? std::optional(time) : std::nullopt;
}

std::expected<std::string, int> read_script(const std::string& option, const std::string& path) {
  auto text = read_text_file(path, kFileBytesMax);
  if (!text) return wrong(option + " " + path + ": " + text.error().message());
  std::erase(*text, '\r');
  return std::move(*text);
}

/// A browser that does not know a zone keeps its own.
std::string check_time_zone(const std::string& name) {
  return name == "browser" ? std::string() : time_zone_problem(name);
}

/// False for recordings without any date.
bool has_start(const SessionInfo& session) {
  return session.injected_clock || session.started != std::chrono::system_clock::time_point();
}

std::optional<inject::PageSettings> settings_of(const InjectionOptions& options,
                                                const SessionInfo& session) {
  auto const& recorded = session.injected_clock;
  auto const started = has_start(session) ? session.started : std::chrono::system_clock::now();
  inject::PageSettings settings{
      .time = recorded ? recorded->start
                       : std::chrono::floor<std::chrono::milliseconds>(started.time_since_epoch()),
      .seed = options.random_seed.value_or(session.random_seed),
      .time_zone = options.time_zone.empty() ? session.time_zone : options.time_zone};
  if (settings.time_zone == "browser") settings.time_zone.clear();
  auto const mode = !options.clock.empty() ? options.clock : recorded ? recorded->mode : "";
  settings.clock = inject::clock_mode_of(mode).value_or(settings.clock);
  if (options.time_seed.empty()) return settings;
  auto const time = parse_time(options.time_seed);
  if (!time) return std::nullopt;
  settings.time = *time;
  return settings;
}

std::string_view to_string(inject::Verdict verdict) {
  switch (verdict) {
    case inject::Verdict::kRewritten:
      return "rewritten";
    case inject::Verdict::kNoDocument:
      return "not a document";
    case inject::Verdict::kNoPlace:
      return "no place for a script";
    case inject::Verdict::kNoScripts:
      return "sandboxed: no script runs";
    case inject::Verdict::kUndecoded:
      return "does not match its Content-Encoding";
  }
  return "";
}

boost::json::object document_json(const InjectedDocument& document) {
  auto const& report = document.report;
  boost::json::array policies;
  for (const inject::PolicyChange& change : report.policy_changes) {
    policies.push_back({{"directive", as_utf8(change.directive)},
                        {"added", as_utf8(change.added)},
                        {"report_only", change.report_only},
                        {"replaced_none", change.replaced_none}});
  }
  boost::json::object json{
      {"url", as_utf8(document.url)},
      {"as", document.destination == inject::Destination::kWorker ? "worker" : "document"},
      {"served", document.served},
      {"verdict", to_string(report.verdict)},
      {"script_bytes", report.element_bytes},
      {"added_bytes", report.added_wire_bytes},
      {"policy_changes", std::move(policies)}};
  if (report.error) json["problem"] = report.error.message();
  if (!report.charset_stated.empty()) json["charset_stated"] = report.charset_stated;
  if (report.requires_trusted_types) json["requires_trusted_types"] = true;
  return json;
}

/// Prints which of the options change no page because the default script is not injected.
void note_unused(const InjectionOptions& options) {
  std::string given;
  auto const add = [&given](bool is_given, const char* option) {
    if (is_given) given += (given.empty() ? "" : ", ") + std::string(option);
  };
  add(!options.time_seed.empty(), "--time-seed");
  add(options.random_seed.has_value(), "--random-seed");
  add(!options.clock.empty(), "--clock");
  add(!options.time_zone.empty(), "--timezone");
  if (given.empty()) return;
  std::fprintf(stderr, "reprise: with --inject none no page is changed by %s\n", given.c_str());
}

}  // namespace

void InjectionOptions::add_to(CLI::App& command) {
  command
      .add_option("--inject", inject,
                  "Inject into documents: default (fixes clock and random numbers), none, or "
                  "script files, which follow the default; none and FILE for the file alone")
      ->allow_extra_args(false)
      ->type_name("default|none|FILE")
      ->default_str("default");
  command.add_option("--time-seed", time_seed,
                     "Start the page's clock at this time: ms since the epoch or "
                     "2026-03-01T12:00:00Z [time of the recording; the present if that is "
                     "unknown]");
  command
      .add_option("--random-seed", random_seed,
                  "Seed for the page's random numbers [record: random; replay: the recording's]")
      ->check(whole_numbers_from(0));
  command
      .add_option("--clock", clock,
                  "Move the page's clock: step: 50 ms every 50 tasks that read it, at most 1 s "
                  "behind; steady: in real time; all: in real time, performance.timeOrigin too "
                  "[step]")
      ->check(CLI::IsMember({"step", "steady", "all"}));
  command
      .add_option("--timezone", time_zone,
                  "Set the page's time zone, such as Europe/Berlin; 'browser' keeps the browser's "
                  "own [record: the machine's; replay: the recording's]")
      ->check(check_time_zone);
  command
      .add_option("--script-in", script_in,
                  "documents: put the default script into documents; browser: leave documents as "
                  "recorded, and give the script to the command in REPRISE_SCRIPT, for a browser "
                  "that runs it before each document")
      ->check(CLI::IsMember({"documents", "browser"}))
      ->take_last()
      ->capture_default_str();
}

std::expected<Injection, int> make_injection(const InjectionOptions& options,
                                             const SessionInfo& session,
                                             std::chrono::seconds date_shift) {
  auto const is_given = [&options](std::string_view value) {
    return std::ranges::find(options.inject, value) != options.inject.end();
  };
  bool const none = is_given("none");
  if (none && is_given("default")) {
    return wrong("--inject default and --inject none exclude each other");
  }
  auto settings = settings_of(options, session);
  if (!settings) {
    return wrong(
        "--time-seed must be milliseconds since 1970 or a time such as 2026-03-01T12:00:00Z, not "
        "'" +
        options.time_seed + "'");
  }
  settings->date_shift = date_shift;
  Injection injection{.settings = *settings};
  inject::InjectedScript::Texts texts;
  if (none && !options.adapt) note_unused(options);
  if (!none) {
    auto script = inject::deterministic_script(*settings);
    if (options.script_in == "browser") {
      injection.browser_script = std::move(script.browser);
    } else {
      texts.document.push_back(std::move(script.document));
    }
    texts.worker = std::move(script.worker);
  }
  for (const std::string& each : options.inject) {
    if (each == "none" || each == "default") continue;
    auto text = read_script(options.option, each);
    if (!text) return std::unexpected(text.error());
    if (options.adapt) *text = options.adapt(std::move(*text), *settings);
    if (!inject::InjectedScript::create({.document = {*text}, .worker = {}})) {
      return wrong(options.option + " " + each +
                   ": cannot be embedded in every document: the script must be ASCII (write "
                   "\\u00e4 for other characters) without </script, <!-- and ]]>");
    }
    texts.document.push_back(std::move(*text));
    injection.files.push_back(each);
  }
  if (texts.document.empty() && texts.worker.empty()) return injection;
  bool const has_clock = !none || options.adapt;
  if (has_clock && options.time_seed.empty() && !has_start(session)) {
    std::fputs("reprise: the recording has no date: the page's clock starts at the present\n",
               stderr);
  }
  auto script = inject::InjectedScript::create(std::move(texts));
  if (!script) return wrong("the script cannot be injected: " + script.error().message());
  injection.script = std::move(*script);
  return injection;
}

boost::json::object injection_json(const Injection& injection, const ReplayReport& report) {
  boost::json::array documents;
  for (const InjectedDocument& document : report.documents) {
    documents.push_back(document_json(document));
  }
  boost::json::array files;
  for (const std::string& file : injection.files) files.emplace_back(as_utf8(file));
  return {{"time_ms", injection.settings.time.count()},
          {"random_seed", std::to_string(injection.settings.seed)},
          {"clock", inject::to_string(injection.settings.clock)},
          {"time_zone", as_utf8(injection.settings.time_zone)},
          {"files", std::move(files)},
          {"responses", report.counts.injected},
          {"added_bytes", report.counts.injected_bytes},
          {"documents", std::move(documents)}};
}

std::string injected_text(std::uint64_t responses, std::int64_t bytes) {
  char added[32];
  std::snprintf(added, sizeof added, "%+.1f KB", static_cast<double>(bytes) / 1e3);
  return "the script was added to " + counted(responses, "response") + ", " + added;
}

}  // namespace reprise
