#include <sys/wait.h>

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <cstdio>
#include <memory>
#include <utility>

#include "base/system/guarded_process.h"
#include "base/system/json_file.h"
#include "base/system/private_file.h"
#include "base/text/counted.h"
#include "base/text/printable.h"
#include "pageload/results/har.h"
#include "pageload/results/result_file.h"
#include "tools/archive/given_archive.h"
#include "tools/commands.h"
#include "tools/load/disturbed_loads.h"
#include "tools/load/load_exit.h"
#include "tools/load/load_options.h"
#include "tools/load/load_progress.h"
#include "tools/load/load_start.h"
#include "tools/load/load_table.h"
#include "tools/load/result_room.h"
#include "tools/process/command_line.h"
#include "tools/process/interrupted_process.h"
#include "tools/process/interruption.h"
#include "tools/process/output_folder.h"
#include "tools/process/say.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;

/// True if none is requested.
bool write_har(const LoadOptions& options, const std::string& name, const MeasuredLoad& load) {
  if (options.har_folder.empty()) return true;
  auto const path = options.har_folder / (name + ".har");
  auto const har = boost::json::serialize(har_of(*load.page, load.browser)) + "\n";
  auto const written = write_private_file(har, path);
  if (!written) say(0, path.string() + " cannot be written: " + written.error().message());
  return written.has_value();
}

/// `reprise record` of these pages; returns its exit code, or that of an interruption.
int record_pages(const fs::path& archive, const std::vector<std::string>& flags,
                 const std::vector<std::string>& urls) {
  std::vector<std::string> arguments{"record", "-o", archive.string()};
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  arguments.insert(arguments.end(), urls.begin(), urls.end());
  auto process = GuardedProcess::start({.program = "/proc/self/exe",
                                        .arguments = std::move(arguments),
                                        .environment = environment_with({})});
  if (!process) {
    return say(kExitFailed, "the recording cannot be started: " + process.error().message());
  }
  auto const deadline = std::chrono::steady_clock::now() + std::chrono::hours(24);
  auto const status = wait_or_interrupt(**process, deadline);
  if (Interruption::was_asked()) return Interruption::exit_code();
  return status && WIFEXITED(*status) ? WEXITSTATUS(*status) : int{kExitFailed};
}

const char* reason_text(NoMoreLoads why) {
  switch (why) {
    case NoMoreLoads::kNothingKnown:
      return "no more loads are made: fewer than two of the first ones of each have a load event "
             "that counts";
    case NoMoreLoads::kTimeIsUp:
      return "no more loads are made: the first ones left too little of the budget";
    case NoMoreLoads::kAllAlike:
      return "no more loads are made: the load events of the first ones are all alike, in each "
             "combination";
    case NoMoreLoads::kTooLong:
      break;
  }
  return "no more loads are made: one of those whose load events vary takes longer than what is "
         "left of the budget";
}

/// Of one archive, or live.
struct MeasurementFiles {
  fs::path output;     ///< of the result; empty: none is written
  std::string prefix;  ///< begins the names of the files of each load
};

/// The loads of one archive, or live, in `time`, if that is given.
class Measurement {
 public:
  Measurement(const LoadOptions& options, const LoadSetup& setup,
              const std::vector<LoadCell>& cells, LoadResult& result, MeasurementFiles files,
              std::optional<std::chrono::nanoseconds> time)
      : options_(options),
        setup_(setup),
        cells_(cells),
        result_(result),
        files_(std::move(files)),
        time_(time),
        progress_(cells),
        budget_(cells.size()) {}

  /// Makes all, and tells what they show. Returns the exit code.
  int run() {
    auto const warm_ups = options_.warm_up_loads();
    auto const plan = plan_loads(cells_.size(), warm_ups, options_.runs_of_each(), result_.seed);
    auto const ends = Clock::now() + time_.value_or(std::chrono::nanoseconds(0));
    if (make(plan, std::nullopt) && time_) {
      auto const first_run = warm_ups + options_.runs_of_each() + 1;
      auto const left = seconds_until(ends);
      auto const rest = budget_.rest(left, first_run, result_.seed);
      if (rest.empty()) say(0, reason_text(budget_.why_none(left)));
      make(rest, ends);
    }
    judge_all(result_);
    if (interrupted_) return exit_code_;
    tell_figures();
    if (time_) tell_standard_errors();
    if (exit_code_ == kExitGate) {
      if (auto const why = strict_text(result_); !why.empty()) say(0, "exit status 5: " + why);
    }
    return exit_code_;
  }

 private:
  using Clock = std::chrono::steady_clock;

  static double seconds_until(Clock::time_point then) {
    return std::chrono::duration<double>(then - Clock::now()).count();
  }

  /// Makes those of `plan` that end before `ends`. False if no more can be made.
  bool make(const std::vector<PlannedLoad>& plan, std::optional<Clock::time_point> ends) {
    planned_ += plan.size();
    progress_.add(plan.size());
    for (const PlannedLoad& next : plan) {
      if (!has_room()) return false;
      if (ends && seconds_until(*ends) < budget_.seconds_of(next.cell)) return true;
      if (!make(next)) return false;
    }
    return true;
  }

  bool make(const PlannedLoad& next) {
    const LoadCell& cell = cells_[next.cell];
    progress_.begins(cell);
    char numbered[32];
    std::snprintf(numbered, sizeof numbered, "load-%04zu", result_.loads.size() + 1);
    auto const name = files_.prefix + numbered;
    auto const began = Clock::now();
    auto measured =
        measure_load(setup_of_run(setup_, cell.configuration.link, result_.seed, next.run),
                     cell.configuration, cell.url, name);
    auto const code = exit_code_of(measured);
    if (measured.end == LoadEnd::kInterrupted) {
      say(0, "interrupted after " + std::to_string(result_.loads.size()) + " of " +
                 counted(planned_, "load") +
                 (files_.output.empty() ? "" : ", which were written to the result"));
      interrupted_ = true;
      exit_code_ = code;
      return false;
    }
    progress_.ended(cell, next.warm_up, measured);
    bool const loaded = measured.end == LoadEnd::kLoaded;
    bool const has_page = measured.page.has_value();
    bool const hopeless = is_hopeless(measured);
    if (code != kExitDone) exit_code_ = code;
    if (exit_code_ == kExitDone && !loaded) exit_code_ = kExitFailed;
    if (measured.page && !write_har(options_, name, measured)) exit_code_ = kExitFailed;
    add_load(result_, std::move(measured), cell.configuration, next.run, next.warm_up);
    if (has_page) judge_last();
    bool const counts = loaded && !next.warm_up && result_.loads.back().disturbed.empty();
    budget_.add(next.cell, -seconds_until(began),
                counts ? result_.loads.back().page.load_event_ms : std::nullopt);
    return !hopeless;
  }

  /// Names what disturbed the last load.
  void judge_last() {
    disturbed_.judge_last(result_);
    if (!files_.output.empty()) room_.add_last(result_);
    auto const& why = result_.loads.back().disturbed;
    if (!why.empty()) std::fprintf(stderr, "  disturbed: %s\n", printable(why).c_str());
  }

  /// Whether the result can take another load. Says if not.
  bool has_room() {
    if (files_.output.empty()) return true;
    bool const has_loads =
        result_.loads.size() < kResultLoadsMax && result_.replays.size() < kResultLoadsMax;
    if (has_loads && !room_.is_used_up()) return true;
    say(0, "no more loads are made: with them the result would be too large to be read again (" +
               std::to_string(kResultLoadsMax) + " loads; " + result_limit_text() + ")");
    exit_code_ = kExitFailed;
    return false;
  }

  void tell_figures() const {
    if (planned_ <= cells_.size()) return;
    std::fprintf(stderr, "\n%s", load_table(result_, cells_).c_str());
    std::fputs(dropped_text(result_, cells_).c_str(), stderr);
    std::fputs(disturbed_loads_text(result_).c_str(), stderr);
  }

  void tell_standard_errors() const {
    if (cells_.size() < 2) return;
    auto const errors = budget_.standard_errors();
    if (!errors) {
      std::fputs(
          "standard errors of the load events: unknown, since fewer than two loads of a row above "
          "have a load event that counts\n",
          stderr);
      return;
    }
    std::fprintf(stderr,
                 "standard errors of the load events: %.2f ms in all; the same time split evenly "
                 "would have left %.2f ms\n",
                 errors->allotted, errors->even);
  }

  const LoadOptions& options_;
  const LoadSetup& setup_;
  const std::vector<LoadCell>& cells_;
  LoadResult& result_;
  MeasurementFiles files_;
  std::optional<std::chrono::nanoseconds> time_;
  LoadProgress progress_;
  LoadBudget budget_;
  DisturbedLoads disturbed_;
  ResultRoom room_{kResultBytesMax};
  std::size_t planned_ = 0;
  bool interrupted_ = false;
  int exit_code_ = kExitDone;
};

/// The same, with the work before and after. `name` is the archive's name on the command line.
int measure_one(const LoadOptions& options, const fs::path& archive, const fs::path& name,
                const MeasurementFiles& files, std::optional<std::chrono::nanoseconds> time) {
  auto const urls = pages_to_load(options, archive);
  if (!urls) return say(urls.error().exit_code, urls.error().text);
  auto const cells = options.cells(*urls);
  if (!cells) return say(kExitUsage, cells.error());
  auto const& output = files.output;
  std::uint64_t const planned = std::uint64_t{options.runs_of_each()} + options.warm_up_loads();
  if (!output.empty() && planned * cells->size() > kResultLoadsMax) {
    return say(kExitUsage, std::to_string(planned * cells->size()) +
                               " loads are too many for a result, which holds " +
                               std::to_string(kResultLoadsMax) + ": use a smaller --runs");
  }
  auto result = empty_result(options, archive);
  result.archive = name;
  auto const what_if = WhatIfArchive::make(archive, options.what_if());
  if (!what_if) return say(what_if.error().exit_code, what_if.error().text);
  std::fputs(what_if_text(what_if->effects()).c_str(), stderr);
  result.what_ifs = what_ifs_made(what_if->effects());
  auto const setup = options.setup(*what_if);
  int const exit_code = Measurement(options, setup, *cells, result, files, time).run();
  if (output.empty()) return exit_code;
  if (auto const written = write_result(result, output); !written) {
    return say(kExitFailed, output.string() + " cannot be written: " + written.error().message());
  }
  std::error_code ignored;
  if (!fs::is_regular_file(output, ignored) || fs::file_size(output, ignored) <= kResultBytesMax) {
    return exit_code;
  }
  return say(kExitFailed, output.string() + " is larger than " + result_limit_text() +
                              ": no command reads it. Make fewer loads, or without --dom");
}

/// Measures each archive of a folder; its result goes beside it or to the folder of -o. The files
/// of its loads have its name, too: they share the folders of --har, --screenshot and --trace. A
/// --budget is for all archives.
int measure_folder(const LoadOptions& options, const fs::path& folder) {
  std::vector<fs::path> archives;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() == ".reprise") archives.push_back(it->path());
  }
  if (error) return say(kExitArchive, folder.string() + ": " + error.message());
  if (archives.empty())
    return say(kExitArchive, folder.string() + " contains no archive (*.reprise)");
  std::ranges::sort(archives);
  auto const to = options.output.empty() ? folder : options.output;
  if (auto const made = make_output_folder(to); !made) {
    return say(kExitFailed, "-o: " + made.error());
  }
  auto const budget = parse_budget(options.budget);
  auto const ends = std::chrono::steady_clock::now() + budget.value_or(std::chrono::seconds(0));
  int exit_code = kExitDone;
  for (std::size_t i = 0; i < archives.size(); ++i) {
    if (Interruption::was_asked()) return Interruption::exit_code();
    const fs::path& archive = archives[i];
    std::fprintf(stderr, "%s\n", archive.c_str());
    // What one archive leaves is for those that follow.
    std::optional<std::chrono::nanoseconds> time;
    if (budget) {
      std::chrono::nanoseconds const left = ends - std::chrono::steady_clock::now();
      time = std::max(left, std::chrono::nanoseconds(0)) /
             static_cast<std::int64_t>(archives.size() - i);
    }
    auto const code = measure_one(options, archive, archive,
                                  {.output = to / archive.filename().replace_extension(".json"),
                                   .prefix = archive.stem().string() + "-"},
                                  time);
    if (code != kExitDone) exit_code = code;
  }
  return exit_code;
}

int load(const LoadOptions& options) {
  bool const needs_pages = options.live || !options.record_to.empty();
  if (options.arguments.empty() || (needs_pages && options.urls().empty())) {
    return say(kExitUsage,
               "load needs ARCHIVE [URL...], --live URL... or --record-to ARCHIVE URL...");
  }
  if (!options.budget.empty() && !parse_budget(options.budget)) {
    return say(kExitUsage, "--budget must be a time such as 90s, 10m or 1h");
  }
  for (const std::string& url : options.urls()) {
    if (auto const wrong = check_page_url(url); !wrong.empty()) return say(kExitUsage, wrong);
  }
  if (options.live && !options.record_to.empty()) {
    return say(kExitUsage, "--record-to cannot be used with --live: it loads what it recorded");
  }
  if (auto const cells = options.cells(options.urls()); !cells) {
    return say(kExitUsage, cells.error());
  }
  if (auto const wrong = options.check_browsers(); !wrong.empty()) return say(kExitFailed, wrong);
  for (const std::string& option : options.options_without_effect()) {
    say(0, option + " has no effect: no load is behind a link. Add --link LINK");
  }
  auto const* const archive_flag = options.record_to.empty() ? "ARCHIVE" : "--record-to";
  if (!are_different_files({{archive_flag, options.archive()}, {"-o", options.output}})) {
    return kExitUsage;
  }
  if (auto const made = options.make_folders(); !made) return say(kExitFailed, made.error());
  std::error_code ignored;
  bool const folder =
      fs::is_directory(options.archive(), ignored) && !GivenArchive::is_imported(options.archive());
  if (folder && options.output == "-") {
    return say(kExitUsage, "-o must be a folder for the results of a folder of archives");
  }
  if (auto const can = check_writable(options.output); !options.output.empty() && !folder && !can) {
    return say(kExitFailed,
               "-o " + options.output.string() + " cannot be written: " + can.error().message());
  }
  auto const given = GivenArchive::take(options.record_to.empty() ? options.archive() : fs::path());
  if (!given) return given.error();
  auto const archive = options.record_to.empty() ? given->path() : options.record_to;
  Interruption const interruption;
  if (!options.record_to.empty()) {
    auto const code = record_pages(archive, options.record_flags, options.urls());
    if (code != kExitDone) return code;
  }
  if (folder) return measure_folder(options, archive);
  return measure_one(options, archive, options.archive(), {.output = options.output, .prefix = ""},
                     parse_budget(options.budget));
}

}  // namespace

void add_load_command(CLI::App& app, const std::vector<std::string>& command, int& exit_code) {
  auto const options = std::make_shared<LoadOptions>();
  auto* const sub = add_command(
      app, "load", "Load pages in a browser: reprise load ARCHIVE [URL...] [-- FLAG...]");
  options->add_to(*sub);
  sub->callback([options, command, &exit_code] {
    auto& flags = options->browsing.browser_flags;
    flags.insert(flags.end(), command.begin(), command.end());
    exit_code = load(*options);
  });
}

}  // namespace reprise
