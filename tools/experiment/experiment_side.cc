#include "tools/experiment/experiment_side.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/text/command_words.h"
#include "shaper/profile.h"
#include "tools/archive/given_archive.h"
#include "tools/commands.h"
#include "tools/load/load_exit.h"
#include "tools/load/load_start.h"
#include "tools/load/load_table.h"
#include "tools/process/command_line.h"

namespace reprise {
namespace {

std::unexpected<CommandRefusal> refuse(std::string text, int exit_code = kExitUsage) {
  return std::unexpected(CommandRefusal{exit_code, std::move(text)});
}

/// Why an option that only `reprise load` itself reads is refused; empty if none was given.
std::string unread_option(const LoadOptions& options) {
  if (!options.output.empty() || !options.record_to.empty() || !options.record_flags.empty()) {
    return "-o, --record-to and --record-flag cannot be used in a side";
  }
  if (options.runs) {
    return "--runs is for `reprise load`: use --max-runs (in a campaign: loads)";
  }
  if (options.warm_ups) {
    return "--warm-up is for `reprise load`: leave it out";
  }
  if (!options.budget.empty()) {
    return "--budget is for all sides together: give it to the command (in a campaign: "
           "budget_hours)";
  }
  if (options.seed) {
    return "--seed is for all sides together: give it to the command (in a campaign: seed)";
  }
  if (!options.har_folder.empty()) {
    return "--har is for `reprise load`: `reprise view` saves loads as HAR, too";
  }
  return {};
}

/// What is wrong with a link, before anything is loaded; empty if all can be used.
std::string wrong_link_in(const std::vector<LoadCell>& cells) {
  for (const LoadCell& cell : cells) {
    auto const link = parse_link(cell.configuration.link);
    if (!link) return link.error();
  }
  return {};
}

}  // namespace

std::expected<ExperimentSide, CommandRefusal> ExperimentSide::parse(const std::string& text) {
  auto words = command_words(text);
  if (!words) return refuse(words.error());
  return of_words(std::move(*words));
}

std::optional<std::string> parse_load_words(std::vector<std::string> words, LoadOptions& options) {
  auto const app = make_command_line("", "load");
  options.add_to(*app);
  auto const dashes = std::ranges::find(words, "--");
  std::vector<std::string> const flags(dashes == words.end() ? dashes : dashes + 1, words.end());
  words.erase(dashes, words.end());
  options.browsing.browser_flags = flags;
  try {
    parse_words(*app, std::move(words));
  } catch (const CLI::ParseError& error) {
    return error.what();
  }
  if (options.arguments.empty()) return "the archive is missing";
  return std::nullopt;
}

std::expected<ExperimentSide, CommandRefusal> ExperimentSide::of_words(
    std::vector<std::string> words) {
  LoadOptions options;
  if (auto const wrong = parse_load_words(std::move(words), options)) return refuse(*wrong);
  if (auto const wrong = unread_option(options); !wrong.empty()) return refuse(wrong);
  // They would be part of what is measured.
  if (options.browsing.keep_open || !options.browsing.extensions.empty()) {
    return refuse("--keep-open and --extension are for `reprise load` alone");
  }
  auto given = GivenArchive::take(options.archive());
  if (!given) {
    return refuse(options.archive().string() + " was not imported", given.error());
  }
  auto const archive = given->path();
  auto const urls = pages_to_load(options, archive);
  if (!urls) return std::unexpected(urls.error());
  auto cells = options.cells(*urls);
  if (!cells) return refuse(cells.error());
  if (auto const wrong = wrong_link_in(*cells); !wrong.empty()) return refuse(wrong);
  if (auto const made = options.make_folders(); !made) return refuse(made.error(), kExitFailed);
  auto what_if = WhatIfArchive::make(archive, options.what_if());
  if (!what_if) return std::unexpected(what_if.error());
  ExperimentSide side(std::move(*given), std::move(*what_if));
  side.what_if_options_ = options.what_if();
  side.cells_ = std::move(*cells);
  side.setup_ = options.setup(side.what_if_);
  side.result_ = empty_result(options, archive);
  side.result_.archive = options.archive();
  side.result_.what_ifs = what_ifs_made(side.effects());
  return side;
}

bool ExperimentSide::load(std::size_t run) {
  for (const LoadCell& cell : cells_) {
    char name[32];
    std::snprintf(name, sizeof name, "load-%04zu", result_.loads.size() + 1);
    auto measured = measure_load(setup_of_run(setup_, cell.configuration.link, result_.seed, run),
                                 cell.configuration, cell.url, file_prefix_ + name);
    exit_code_ = exit_code_of(measured);
    messages_ = measured.messages;
    if (measured.end == LoadEnd::kInterrupted) return false;
    said_->say(measured.messages);
    bool const hopeless = is_hopeless(measured);
    if (measured.end == LoadEnd::kNotLoaded) {
      std::fprintf(stderr, "%s\n", load_text(*measured.page).c_str());
    }
    add_load(result_, std::move(measured), cell.configuration, static_cast<unsigned>(run),
             run == 0);
    if (hopeless) return false;
  }
  return true;
}

std::set<Mismatch> stated_differences(const ExperimentSide& a, const ExperimentSide& b) {
  auto const values = [](const ExperimentSide& side, std::string LoadConfiguration::* value) {
    std::set<std::string> out;
    for (const LoadCell& cell : side.cells()) out.insert(cell.configuration.*value);
    return out;
  };
  std::set<Mismatch> out;
  for (auto const& [difference, value] :
       {std::pair{Mismatch::kBrowser, &LoadConfiguration::browser},
        {Mismatch::kProtocol, &LoadConfiguration::protocol},
        {Mismatch::kLink, &LoadConfiguration::link},
        {Mismatch::kCache, &LoadConfiguration::cache}}) {
    if (values(a, value) != values(b, value)) out.insert(difference);
  }
  if (a.result().archive != b.result().archive) out.insert(Mismatch::kArchive);
  auto const texts = [](const ExperimentSide& side) {
    std::vector<std::string> all;
    for (const whatif::Effect& effect : side.effects()) all.push_back(effect.text);
    return all;
  };
  // A page that is changed may request other things.
  if (texts(a) != texts(b)) {
    out.insert({Mismatch::kWhatIf, Mismatch::kRequests, Mismatch::kMisses});
  }
  return out;
}

}  // namespace reprise
