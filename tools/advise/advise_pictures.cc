#include <cstdio>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "analysis/sources/load_calls.h"
#include "base/text/printable.h"
#include "pageload/browser/launch.h"
#include "tools/advise/advise_run.h"
#include "tools/experiment/change_side.h"
#include "tools/process/interruption.h"
#include "tools/process/say.h"

// The part of AdviseRun that loads the page once more to see it, as recorded and with its changes.

namespace reprise {
namespace {

/// Not the first, which warms up: all sides have the think times and the losses of the same run.
constexpr std::size_t kPicturedRun = 1;

/// The error completes "no picture of ...: ".
std::expected<TraceVisuals, std::string> frames_of(const PageLoad& page) {
  if (page.outcome != LoadOutcome::kLoaded) return std::unexpected(why_not_loaded(page));
  if (page.trace.empty()) return std::unexpected("the browser wrote no trace");
  auto visuals = trace_visuals_of(page.trace, urls_in_trace(page));
  if (!visuals) return std::unexpected("its trace cannot be used: " + visuals.error());
  if (visuals->frames.empty()) return std::unexpected("its trace has no frames");
  return visuals;
}

}  // namespace

std::vector<std::string> AdviseRun::what_ifs_of(const MeasuredChange& change) {
  std::vector<std::string> texts;
  for (const ChangeCandidate& each : change.candidates) texts.push_back(each.what_if);
  return texts;
}

void AdviseRun::miss_picture(std::string why) {
  say(0, printable(why));
  pictures_.missing.push_back(std::move(why));
}

std::optional<int> AdviseRun::take_pictures() {
  if (is_firefox(experiment_->side(kBase).cells().front().configuration.browser)) {
    miss_picture("no pictures: they are frames of a trace, which only Chromium writes");
    return std::nullopt;
  }
  std::vector<PictureWanted> wanted{{.side = kBase, .title = "as recorded", .what_ifs = {}}};
  std::size_t number = 0;
  for (const MeasuredChange& change : advice_.changes) {
    if (!change.is_advised()) continue;
    wanted.push_back({.side = change.side,
                      .title = std::to_string(++number) + ". " + change.title(),
                      .what_ifs = what_ifs_of(change)});
  }
  if (auto const& together = advice_.together) {
    wanted.push_back(
        {.side = together->side, .title = together->title(), .what_ifs = what_ifs_of(*together)});
  }
  auto const said = std::make_shared<SaidOnce>();
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    std::fprintf(stderr, "pictures: load %zu of %zu\n", i + 1, wanted.size());
    if (auto const code = take_picture(wanted[i], said)) return code;
  }
  return std::nullopt;
}

std::optional<int> AdviseRun::take_picture(const PictureWanted& wanted,
                                           const std::shared_ptr<SaidOnce>& said) {
  auto const begin = "no picture of '" + wanted.title + "': ";
  auto side =
      try_side_with(traced(options_.words, options_.traces), wanted.what_ifs, options_.seed);
  if (!side) {
    miss_picture(begin + side.error().text);
    return std::nullopt;
  }
  side->name_files("picture-" + std::to_string(wanted.side));
  side->say_by(said);
  bool const loaded = side->load(kPicturedRun);
  if (Interruption::was_asked()) return say(Interruption::exit_code(), "interrupted");
  if (!loaded || side->result().loads.empty()) {
    miss_picture(begin + "the page could not be loaded");
    return std::nullopt;
  }
  auto visuals = frames_of(side->result().loads.back().page);
  if (!visuals) {
    miss_picture(begin + visuals.error());
    return std::nullopt;
  }
  pictures_.seen.push_back({.side = wanted.side,
                            .title = wanted.title,
                            .result = side->result(),
                            .visuals = std::move(*visuals)});
  return std::nullopt;
}

}  // namespace reprise
