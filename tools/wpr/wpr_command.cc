
#include <cstdio>

#include "tools/commands.h"
#include "tools/process/command_line.h"
#include "tools/replay/replay_command.h"
#include "tools/wpr/grammar.h"
#include "tools/wpr/ruled_archive.h"
#include "tools/wpr/wpr_record.h"
#include "tools/wpr/wpr_roots.h"
#include "tools/wpr/wpr_serving.h"

namespace reprise {
namespace {

using wpr::CommandLine;
using wpr::say_error;
using wpr::Verb;

constexpr std::string_view kProgram = "wpr";

int replay_as_wpr(const CommandLine& line) {
  auto serving = wpr::serving_options(line.flags);
  if (!serving) {
    say_error(serving.error());
    return kExitFailed;
  }
  ReplayOptions options;
  options.archive = line.archive;
  options.match = line.flags.exact_urls ? "exact" : "fuzzy";
  // Of what was cut or failed, Web Page Replay has nothing.
  options.failures = "miss";
  options.injection = wpr::injection_options(line.flags);
  if (!line.flags.rules_file.empty() || !line.flags.scripts_by_url.empty()) {
    auto amend = wpr::ruled_copy(line.flags.rules_file, line.flags.scripts_by_url);
    if (!amend) {
      say_error(amend.error());
      return kExitFailed;
    }
    options.amend = std::move(*amend);
  }
  options.pace = "none";
  options.topology = "single";
  options.serving = std::move(*serving);
  options.repeats = line.flags.chronological ? Repeats::kInOrder : Repeats::kMostAlike;
  options.empty_misses = true;
  options.serves_h3 = false;  // Web Page Replay has none
  return replay(options, {});
}

int run(const CommandLine& line) {
  switch (line.verb) {
    case Verb::kRecord:
      return wpr::record_as_wpr(line);
    case Verb::kReplay:
      return replay_as_wpr(line);
    case Verb::kHelp:
      std::fputs(wpr::usage(kProgram).c_str(), stdout);
      return kExitDone;
    case Verb::kInstallRoot:
      return wpr::install_roots(line.flags);
    case Verb::kRemoveRoot:
      return wpr::remove_roots(line.flags);
  }
  return kExitFailed;
}

/// Returns Web Page Replay's exit codes: 0 when the run was ended, 1 on any error.
int run_wpr(const std::vector<std::string>& words) {
  auto const line = wpr::parse(words);
  if (!line) {
    say_error(line.error());
    std::fputs(wpr::usage(kProgram).c_str(), stderr);
    return kExitFailed;
  }
  return run(*line) == kExitDone ? kExitDone : kExitFailed;
}

}  // namespace

void add_wpr_command(CLI::App& app, const std::vector<std::string>& command, int& exit_code) {
  auto* const sub = add_command(
      app, "wpr",
      "Web Page Replay's command line: reprise wpr record|replay|installroot|removeroot");
  // Its words have a grammar that is not CLI11's.
  sub->set_help_flag();
  sub->prefix_command();
  sub->callback([sub, command, &exit_code] {
    auto words = sub->remaining();
    if (!command.empty()) words.emplace_back("--");
    words.insert(words.end(), command.begin(), command.end());
    exit_code = run_wpr(words);
  });
}

}  // namespace reprise
