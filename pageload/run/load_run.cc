#include "pageload/run/load_run.h"

#include <sys/wait.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/system/clock.h"
#include "base/system/guarded_process.h"
#include "base/system/private_folder.h"
#include "base/system/text_file.h"
#include "base/system/thread_priority.h"
#include "pageload/results/result_file.h"
#include "pageload/run/pause_watch.h"
#include "pageload/run/processor_time.h"
#include "pageload/run/replay_facts.h"

namespace fs = std::filesystem;

namespace reprise {
namespace {

constexpr auto kInnerBytes = std::string_view("/reprise-browser-XXXXXX").size();

/// Of the looks at a load's processes: one that is stopped for less may not be seen. A look takes a
/// tenth of a millisecond or so. Without real-time priority looks can be a few tenths of a second
/// apart: the load goes before this thread, and can keep all processors busy.
constexpr std::chrono::milliseconds kLookInterval{20};

/// Of the thread that looks: below those of the link and the proxy, whose packets cannot wait.
constexpr int kPriorityLevel = 1;

/// Of a process that a signal ended.
constexpr int kKilledExitCode = 1;

std::vector<std::string> page_command(const LoadSetup& setup,
                                      const LoadConfiguration& configuration,
                                      const std::string& url, const std::string& name,
                                      const fs::path& folder) {
  std::vector<std::string> all{"load-page", "--browser=" + configuration.browser,
                               "--cache=" + configuration.cache, "--name=" + name,
                               "--output=" + (folder / "load").string()};
  if (!setup.archive.empty()) all.push_back("--replay-ready=" + (folder / "ready").string());
  all.insert(all.end(), setup.browsing_arguments.begin(), setup.browsing_arguments.end());
  all.push_back(url);
  return all;
}

/// `replay ... ARCHIVE -- reprise load-page ...`, or the latter alone.
std::vector<std::string> command_line(const LoadSetup& setup,
                                      const LoadConfiguration& configuration,
                                      const std::string& url, const std::string& name,
                                      const fs::path& folder) {
  auto const page = page_command(setup, configuration, url, name, folder);
  if (setup.archive.empty()) return page;
  // The script would cost a small document a round trip.
  std::vector<std::string> all{"replay",
                               setup.archive.string(),
                               "--protocol=" + configuration.protocol,
                               "--ready-file=" + (folder / "ready").string(),
                               "--report=" + (folder / "report").string(),
                               "--proxy=off",
                               "--dns=off",
                               "--no-child-ca",
                               "--script-in=browser"};
  all.insert(all.end(), setup.replay_arguments.begin(), setup.replay_arguments.end());
  if (configuration.link != "none" || setup.packets) {
    all.push_back("--link=" + configuration.link);
    all.insert(all.end(), setup.link_arguments.begin(), setup.link_arguments.end());
  }
  all.insert(all.end(), {"--", setup.program.string()});
  all.insert(all.end(), page.begin(), page.end());
  return all;
}

/// A page that nothing is known of.
PageLoad page_out_of_time(const std::string& url, std::chrono::seconds limit) {
  PageLoad page{.outcome = LoadOutcome::kTimedOut,
                .failure = "The load did not end in " + std::to_string(limit.count()) + " s.",
                .url = url};
  sum_up(page);
  return page;
}

/// A pause outside of the load cost it nothing. A process that was stopped before the load can have
/// had other consequences.
void add_interruptions(MachineActivity& machine, bool stopped, const PauseWatch& pauses) {
  using Ms = std::chrono::duration<double, std::milli>;
  auto const moment = [](double ms) {
    return std::chrono::duration_cast<PauseWatch::Time>(Ms(ms));
  };
  machine.stopped = machine.stopped || stopped;
  if (machine.began_ms <= 0) return;
  machine.paused_ms =
      Ms(pauses.between(moment(machine.began_ms), moment(machine.began_ms + machine.span_ms)))
          .count();
}

/// The browser, in namespaces of its own, cannot read it.
void add_replay_time(MachineActivity& machine, const ProcessorTime& used) {
  using Ms = std::chrono::duration<double, std::milli>;
  auto const moment = [](double ms) {
    return std::chrono::duration_cast<ProcessorTime::Time>(Ms(ms));
  };
  if (machine.began_ms <= 0) return;
  machine.own_ms +=
      Ms(used.between(moment(machine.began_ms), moment(machine.began_ms + machine.span_ms)))
          .count();
}

}  // namespace

MeasuredLoad measure_load(const LoadSetup& setup, const LoadConfiguration& configuration,
                          const std::string& url, const std::string& name) {
  auto const cannot = [](const std::error_code& error) {
    return MeasuredLoad{.end = LoadEnd::kNotStarted,
                        .messages = "reprise: cannot start a load: " + error.message() + "\n"};
  };
  // The browser's folder is made inside.
  auto const folder = make_private_folder("reprise-load-", kBrowserFolderBytesMax - kInnerBytes);
  if (!folder) return cannot(folder.error());
  auto process = GuardedProcess::start(
      {.program = setup.program,
       .arguments = command_line(setup, configuration, url, name, *folder),
       // What is inside makes its private folders in ours, which our guard removes.
       .environment = environment_with({"TMPDIR=" + folder->string()}),
       .favoured = setup.favoured,
       .error_file = *folder / "stderr",
       .folder = *folder});
  if (!process) return cannot(process.error());
  // Not before: the load would inherit it.
  auto const wanted = setup.favoured ? WantedPriority::kBest : WantedPriority::kOrdinary;
  auto priority = ThreadPriority::take(wanted, kPriorityLevel).value();
  auto const deadline = std::chrono::steady_clock::now() + setup.time_limit;
  bool stopped = false;
  PauseWatch pauses(kLookInterval);
  bool const has_replay = !setup.archive.empty();
  ProcessorTime replay_time;
  auto const look = [&] {
    if (has_replay) {
      replay_time.add(read_clock(CLOCK_MONOTONIC), processor_time_of((*process)->pid()));
    }
    pauses.look(read_clock(CLOCK_MONOTONIC), own_waiting_time());
    stopped = stopped || is_descendant_stopped();
    priority.watch(read_clock(CLOCK_MONOTONIC));
    return setup.stop();
  };
  auto const status = (*process)->wait_until(deadline, look, kLookInterval);
  priority.give_back();
  if (setup.stop()) return {.end = LoadEnd::kInterrupted};
  auto const said = contents_of(*folder / "stderr");
  auto report = read_page_report(*folder / "load");
  int const code = status && WIFEXITED(*status) ? WEXITSTATUS(*status) : kKilledExitCode;
  MeasuredLoad measured{.messages = lines_for_people(said)};
  if (!setup.archive.empty()) {
    measured.replay = ReplayRun{.exit_code = code};
    auto told = read_replay_report(*folder / "report");
    if (told) {
      measured.replay->report = std::move(*told);
    } else if (code == 0) {
      measured.messages += "reprise: the report of a replay cannot be read: " + told.error() + "\n";
    }
  }
  if (report) {
    measured.page = std::move(report->page);
    measured.browser = std::move(report->browser);
    measured.exit_code = code;
  } else if (!status) {
    measured.page = page_out_of_time(url, setup.time_limit);
  } else {
    measured.exit_code = code;
    if (measured.messages.empty()) measured.messages = said;
    if (said.empty()) {
      measured.messages = "reprise: the load " + describe_wait_status(*status) + "\n";
    }
    if (code == 0) {
      measured.messages += "reprise: what the browser saw cannot be read: " + report.error() + "\n";
    }
  }
  measured.browser.name = configuration.browser;
  bool const has_report = measured.replay && measured.replay->report;
  if (measured.page && measured.page->machine) {
    add_interruptions(*measured.page->machine, stopped, pauses);
    add_replay_time(*measured.page->machine, replay_time);
  }
  if (measured.page && has_report) {
    add_replay_report(*measured.page, *measured.replay->report);
    if (measured.page->lateness_ms) drop_lateness_growth(*measured.replay->report);
  }
  measured.end = !measured.page                                   ? LoadEnd::kNotServed
                 : measured.page->outcome == LoadOutcome::kLoaded ? LoadEnd::kLoaded
                                                                  : LoadEnd::kNotLoaded;
  return measured;
}

void add_load(LoadResult& result, MeasuredLoad&& measured, const LoadConfiguration& configuration,
              unsigned run, bool warm_up) {
  LoadResult::Load load{.run = run,
                        .configuration = configuration,
                        .order = static_cast<unsigned>(result.loads.size() + 1),
                        .warm_up = warm_up};
  if (measured.replay) {
    load.replay = result.replays.size();
    measured.replay->run = run;
    result.replays.push_back(std::move(*measured.replay));
  }
  auto const known =
      std::ranges::find(result.browsers, measured.browser.name, &LoadResult::Browser::name);
  if (known == result.browsers.end()) {
    result.browsers.push_back(std::move(measured.browser));
  } else if (known->version.empty()) {  // it could not be started before
    *known = std::move(measured.browser);
  }
  if (!measured.page) return;
  load.page = std::move(*measured.page);
  result.loads.push_back(std::move(load));
}

void move_last_load(LoadResult& from, LoadResult& to) {
  auto load = std::move(from.loads.back());
  from.loads.pop_back();
  if (load.replay) {
    to.replays.push_back(std::exchange(from.replays[*load.replay], {}));
    load.replay = to.replays.size() - 1;
  }
  load.order = static_cast<unsigned>(to.loads.size() + 1);
  to.loads.push_back(std::move(load));
}

}  // namespace reprise
