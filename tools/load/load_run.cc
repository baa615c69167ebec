#include "tools/load/load_run.h"

#include <sys/wait.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <string_view>
#include <utility>

#include "base/system/guarded_process.h"
#include "base/system/text_file.h"
#include "pageload/results/metric.h"
#include "pageload/results/result_file.h"
#include "tools/commands.h"
#include "tools/process/interruption.h"

namespace fs = std::filesystem;

namespace reprise {
namespace {

constexpr auto kInnerBytes = std::string_view("/reprise-browser-XXXXXX").size();

/// How often it is looked whether the measurement is to end.
constexpr std::chrono::milliseconds kLookInterval{200};

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
  std::vector<std::string> all{"replay",
                               setup.archive.string(),
                               "--protocol=" + configuration.protocol,
                               "--ready-file=" + (folder / "ready").string(),
                               "--report=" + (folder / "report").string(),
                               "--proxy=off",
                               "--dns=off"};
  all.insert(all.end(), setup.replay_arguments.begin(), setup.replay_arguments.end());
  if (configuration.link != "none" || setup.packets) {
    all.push_back("--link=" + configuration.link);
    all.insert(all.end(), setup.link_arguments.begin(), setup.link_arguments.end());
  }
  all.insert(all.end(), {"--", setup.program.string()});
  all.insert(all.end(), page.begin(), page.end());
  return all;
}

/// Of what a replay wrote to stderr, the lines that begin with "reprise: "; the others are chatter.
std::string lines_for_people(const std::string& text) {
  std::istringstream lines(text);
  std::string out;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("reprise: ")) out += line + "\n";
  }
  return out;
}

/// A page that nothing is known of.
PageLoad no_page(const std::string& url, LoadOutcome outcome, std::string failure) {
  PageLoad page{.outcome = outcome, .failure = std::move(failure), .url = url};
  sum_up(page);
  return page;
}

std::string without_fragment(std::string_view url) {
  return std::string(url.substr(0, url.find('#')));
}

/// "GET https://..." of each request that the replay had no answer for, and why.
std::map<std::string, std::string> misses_of(const ReplaySummary& report) {
  std::map<std::string, std::string> all;
  for (const ReplaySummary::Miss& miss : report.distinct_misses) {
    all.emplace(miss.method + " " + miss.url, miss.reason);
  }
  return all;
}

/// A page that the replay did not have is no load, whatever the browser showed for it.
void judge_outcome(PageLoad& page, const std::map<std::string, std::string>& misses) {
  auto const asked = without_fragment(page.requests.empty() ? page.url : page.requests[0].url);
  for (auto const& url : {asked, without_fragment(page.final_url)}) {
    auto const miss = misses.find("GET " + url);
    if (miss == misses.end()) continue;
    page.outcome = LoadOutcome::kNotInArchive;
    page.failure = "The archive has no answer for " + url + ": " + miss->second + ".";
    // Of an error page.
    for (const Metric& metric : kMetrics) {
      bool const of_document =
          metric.unit == Metric::Unit::kMs || metric.unit == Metric::Unit::kScore;
      if (of_document) (page.*metric.value).reset();
    }
  }
}

/// A request that no page made was the browser's own.
std::vector<std::string> requests_of_browser(const PageLoad& page, const ReplaySummary& report,
                                             std::map<std::string, std::string> misses) {
  for (const ReplaySummary::SpecialAnswer& answer : report.special_answers) {
    if (answer.kind != "preflight") misses.emplace(answer.method + " " + answer.url, "");
  }
  for (const PageRequest& request : page.requests) misses.erase(request.method + " " + request.url);
  std::vector<std::string> own;
  for (auto const& [request, reason] : misses) own.push_back(request);
  for (const std::string& name : report.missing_names) own.push_back("DNS " + name);
  return own;
}

/// What the replay knows better than the browser.
void judge(PageLoad& page, const ReplaySummary& report) {
  auto misses = misses_of(report);
  judge_outcome(page, misses);
  page.browser_requests = requests_of_browser(page, report, std::move(misses));
  page.hits = report.hits;
  page.misses = report.misses;
}

/// The wait status, or nothing when it was ended here: asked to, or out of time.
std::optional<int> wait_for(GuardedProcess& process, std::chrono::seconds limit) {
  auto const deadline = std::chrono::steady_clock::now() + limit;
  for (;;) {
    auto const now = std::chrono::steady_clock::now();
    if (auto const status = process.wait_until(now + kLookInterval)) return status;
    if (Interruption::was_asked() || now > deadline) return std::nullopt;
  }
}

}  // namespace

MeasuredLoad measure_load(const LoadSetup& setup, const LoadConfiguration& configuration,
                          const std::string& url, const std::string& name) {
  MeasuredLoad measured;
  auto const cannot = [&](const std::error_code& error) {
    measured.exit_code = kExitFailed;
    measured.messages = "reprise: cannot start a load: " + error.message() + "\n";
    return std::move(measured);
  };
  // The browser's folder is made inside.
  auto const folder = make_private_folder("reprise-load-", kBrowserFolderBytesMax - kInnerBytes);
  if (!folder) return cannot(folder.error());
  auto process = GuardedProcess::start(
      {.program = setup.program,
       .arguments = command_line(setup, configuration, url, name, *folder),
       // What is inside makes its private folders in ours, which our guard removes.
       .environment = environment_with({"TMPDIR=" + folder->string()}),
       .error_file = *folder / "stderr",
       .folder = *folder});
  if (!process) return cannot(process.error());
  auto const status = wait_for(**process, setup.time_limit);
  auto const said = contents_of(*folder / "stderr");
  auto report = read_page_report(*folder / "load");
  bool const live = setup.archive.empty();
  if (!status && Interruption::was_asked()) {
    measured.exit_code = Interruption::exit_code();
    return measured;
  }
  int const code = !status ? int{kExitFailed} : WIFEXITED(*status) ? WEXITSTATUS(*status) : 1;
  if (!live) {
    measured.replay = ReplayRun{.exit_code = code};
    if (auto told = read_replay_report(*folder / "report")) measured.replay->report = *told;
  }
  measured.messages = lines_for_people(said);
  if (report) {
    measured.page = std::move(report->page);
    measured.browser = std::move(report->browser);
    measured.exit_code = code;
  } else if (!status) {
    measured.page =
        no_page(url, LoadOutcome::kTimedOut,
                "The load did not end in " + std::to_string(setup.time_limit.count()) + " s.");
  } else {
    measured.exit_code = code == kExitDone ? int{kExitFailed} : code;
    if (measured.messages.empty()) measured.messages = said;
    if (said.empty()) {
      measured.messages = "reprise: the load " + describe_wait_status(*status) + "\n";
    }
  }
  measured.browser.name = configuration.browser;
  bool const has_report = measured.replay && measured.replay->report;
  if (measured.page && has_report) judge(*measured.page, *measured.replay->report);
  return measured;
}

int record_pages(const std::filesystem::path& archive, const std::vector<std::string>& flags,
                 const std::vector<std::string>& urls) {
  std::vector<std::string> arguments{"record", "-o", archive.string()};
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  arguments.insert(arguments.end(), urls.begin(), urls.end());
  auto process = GuardedProcess::start({.program = LoadSetup().program,
                                        .arguments = std::move(arguments),
                                        .environment = environment_with({})});
  if (!process) return kExitFailed;
  auto const status = wait_for(**process, std::chrono::hours(24));
  if (!status) return Interruption::was_asked() ? Interruption::exit_code() : int{kExitFailed};
  return WIFEXITED(*status) ? WEXITSTATUS(*status) : int{kExitFailed};
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
  if (known == result.browsers.end()) result.browsers.push_back(std::move(measured.browser));
  if (!measured.page) return;
  load.page = std::move(*measured.page);
  result.loads.push_back(std::move(load));
}

}  // namespace reprise
