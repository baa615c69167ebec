#include <cstdio>
#include <memory>
#include <utility>

#include "tools/browser/digest.h"
#include "tools/browser/launch.h"
#include "tools/browser/result_file.h"
#include "tools/browser/visit.h"
#include "tools/commands.h"
#include "tools/replay_child.h"

namespace reprise {
namespace {

struct LoadOptions {
  std::vector<std::string> arguments;  ///< ARCHIVE URL..., or URL... with --live
  bool live = false;
  unsigned runs = 1;
  std::filesystem::path output;
  unsigned timeout_s = 30;
  unsigned quiet_ms = 2000;
  unsigned settle_ms = 500;
  std::filesystem::path screenshot_folder;
  std::filesystem::path browser;
  bool headed = false;
  bool no_bodies = false;
  bool dom = false;
  std::filesystem::path authority;
  std::vector<std::string> browser_flags;
  // Passed on to the replay as they are.
  std::string match, dates, session, topology, time_seed, random_seed, clock, time_zone;
  std::vector<std::string> inject;
};

VisitOptions visit_options(const LoadOptions& options) {
  VisitOptions visit;
  visit.browser.program = options.browser;
  visit.browser.headless = !options.headed;
  visit.browser.extra_flags = options.browser_flags;
  visit.browser.authority = options.authority;
  visit.page.timeout = std::chrono::seconds(options.timeout_s);
  visit.page.quiet = std::chrono::milliseconds(options.quiet_ms);
  visit.page.settle = std::chrono::milliseconds(options.settle_ms);
  visit.page.fetch_bodies = !options.no_bodies;
  visit.screenshot_folder = options.screenshot_folder;
  visit.runs = options.runs;
  return visit;
}

ReplayChild::Options replay_options(const LoadOptions& options,
                                    const std::filesystem::path& archive) {
  ReplayChild::Options replay;
  replay.archive = archive;
  for (auto const& [flag, value] : {std::pair{"--match", options.match},
                                    {"--dates", options.dates},
                                    {"--session", options.session},
                                    {"--topology", options.topology},
                                    {"--time-seed", options.time_seed},
                                    {"--random-seed", options.random_seed},
                                    {"--clock", options.clock},
                                    {"--timezone", options.time_zone}}) {
    if (!value.empty()) replay.arguments.insert(replay.arguments.end(), {flag, value});
  }
  for (const std::string& each : options.inject) {
    replay.arguments.insert(replay.arguments.end(), {"--inject", each});
  }
  return replay;
}

/// One run: a replay unless the pages are live, a browser, every page once. Returns the exit code
/// of the replay.
int run_once(const std::vector<std::string>& urls, const LoadOptions& options, unsigned run,
             LoadResult& result) {
  VisitOptions visiting = visit_options(options);
  visiting.run = run;
  std::unique_ptr<ReplayChild> replay;
  if (!options.live) {
    auto started = ReplayChild::start(replay_options(options, result.archive));
    if (!started) {
      std::fputs(started.error().text.c_str(), stderr);
      return started.error().exit_code;
    }
    replay = std::move(*started);
    if (is_firefox(options.browser)) {
      visiting.browser.http_port = replay->http_port();
      visiting.browser.https_port = replay->https_port();
      visiting.browser.authority = replay->authority();
    } else {
      auto const& flags = replay->chromium_flags();
      visiting.browser.extra_flags.insert(visiting.browser.extra_flags.begin(), flags.begin(),
                                          flags.end());
    }
  }
  Visit visit = visit_pages(urls, visiting);
  LoadConfiguration configuration;
  if (!options.browser.empty()) configuration.browser = options.browser.filename().string();
  if (options.live) configuration.protocol = "live";
  if (run == 1) {
    result.browsers.push_back({.name = configuration.browser,
                               .version = std::move(visit.browser_version),
                               .flags = std::move(visit.browser_flags)});
  }
  for (const PageLoad& load : visit.loads) {
    result.loads.push_back({.run = run,
                            .configuration = configuration,
                            .order = static_cast<unsigned>(result.loads.size() + 1),
                            .page = page_json(load, options.dom)});
    if (replay && urls.size() == 1) result.loads.back().replay = result.replays.size();
  }
  if (!replay) return kExitDone;
  auto ending = replay->stop();
  std::fputs(ending.messages.c_str(), stderr);
  result.replays.push_back(
      {.run = run, .exit_code = ending.exit_code, .report = std::move(ending.report)});
  return ending.exit_code;
}

int load(const LoadOptions& options) {
  std::vector<std::string> urls = options.arguments;
  LoadResult result;
  if (!options.live) {
    result.archive = urls.front();
    urls.erase(urls.begin());
  }
  if (urls.empty()) {
    std::fprintf(stderr, "reprise: load wants ARCHIVE URL..., or --live URL...\n");
    return kExitUsage;
  }
  if (!options.screenshot_folder.empty()) {
    std::error_code error;
    std::filesystem::create_directories(options.screenshot_folder, error);
    if (error) {
      std::fprintf(stderr, "reprise: --screenshot %s: %s\n", options.screenshot_folder.c_str(),
                   error.message().c_str());
      return kExitFailed;
    }
  }
  result.machine = this_machine();
  if (!options.live) {
    if (auto const digest = sha256_hex_of_file(result.archive)) result.archive_sha256 = *digest;
  }
  auto const visiting = visit_options(options);
  result.page = visiting.page;
  result.width = visiting.browser.width;
  result.height = visiting.browser.height;
  int exit_code = kExitDone;
  for (unsigned run = 1; run <= options.runs && exit_code == kExitDone; ++run) {
    exit_code = run_once(urls, options, run, result);
  }
  bool all_loaded = !result.loads.empty();
  for (const auto& each : result.loads) {
    all_loaded =
        all_loaded && each.page.at("outcome").as_string() == to_string(LoadOutcome::kLoaded);
  }
  if (!options.output.empty()) {
    if (auto const written = write_result(to_json(result), options.output); !written) {
      std::fprintf(stderr, "reprise: %s cannot be written: %s\n", options.output.c_str(),
                   written.error().message().c_str());
      return kExitFailed;
    }
  }
  return exit_code == kExitDone && !all_loaded ? kExitFailed : exit_code;
}

}  // namespace

void add_load_command(CLI::App& app, const std::vector<std::string>& command, int& exit_code) {
  auto const options = std::make_shared<LoadOptions>();
  auto* const sub = app.add_subcommand(
      "load", "Load pages in a browser: reprise load ARCHIVE URL... [-- FLAG...]");
  sub->add_option("ARCHIVE URL...", options->arguments,
                  "What record wrote, and pages in it; with --live pages only")
      ->required();
  sub->add_flag("--live", options->live, "Load from the network, without an archive");
  sub->add_option("--runs", options->runs, "Times to load each page, each in a new browser")
      ->check(CLI::Range(1U, 100'000U));
  sub->add_option("-o,--output", options->output, "Write the result here as JSON; - for stdout");
  sub->add_option("--timeout", options->timeout_s, "s after which a page is given up (30)")
      ->check(CLI::Range(1U, 86'400U));
  sub->add_option("--quiet", options->quiet_ms, "ms without requests that end a page (2000)")
      ->check(CLI::Range(0U, 3'600'000U));
  sub->add_option("--settle", options->settle_ms,
                  "ms that the new, empty page rests before it navigates (500)")
      ->check(CLI::Range(0U, 60'000U));
  sub->add_option("--screenshot", options->screenshot_folder, "Write a PNG of each load here");
  sub->add_option("--browser", options->browser,
                  "The browser's program: chromium (default), firefox-esr, or another by its path");
  sub->add_option("--ca", options->authority, "Trust the authority in this PEM file, too");
  sub->add_flag("--headed", options->headed, "Show the browser");
  sub->add_flag("--no-bodies", options->no_bodies, "Do not read bodies back for their digests");
  sub->add_flag("--dom", options->dom, "Put the documents' text into the result");
  sub->add_option("--chromium-flag", options->browser_flags,
                  "A further flag of the browser; also every argument behind --")
      ->allow_extra_args(false);
  sub->add_option("--match", options->match, "As replay --match");
  sub->add_option("--inject", options->inject, "As replay --inject")->allow_extra_args(false);
  sub->add_option("--time-seed", options->time_seed, "As replay --time-seed");
  sub->add_option("--random-seed", options->random_seed, "As replay --random-seed");
  sub->add_option("--clock", options->clock, "As replay --clock");
  sub->add_option("--timezone", options->time_zone, "As replay --timezone");
  sub->add_option("--dates", options->dates, "As replay --dates");
  sub->add_option("--session", options->session, "As replay --session");
  sub->add_option("--topology", options->topology, "As replay --topology");
  sub->callback([options, command, &exit_code] {
    options->browser_flags.insert(options->browser_flags.end(), command.begin(), command.end());
    exit_code = load(*options);
  });
}

}  // namespace reprise
