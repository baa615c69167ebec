#include "tools/predict/learnt_page.h"

#include <algorithm>

#include "analysis/dependency/dependency_json.h"
#include "analysis/dependency/learn.h"
#include "analysis/sources/load_calls.h"
#include "analysis/sources/trace_calls.h"
#include "base/system/private_file.h"
#include "tools/experiment/gate_run.h"
#include "tools/predict/predicted_change.h"

namespace reprise {

LearntPage learn_page(const LoadResult& result) {
  std::vector<CallLoss> losses;  // of whole loads, which experiments have told
  LearntPage page{.loads = observed_pages(result, losses), .graph = {}};
  for (ObservedPage& load : page.loads) {
    PageLoad const& measured = result.loads[load.load].page;
    if (measured.trace.empty()) continue;
    auto const added = add_trace_file(measured.trace, urls_in_trace(measured), load.calls,
                                      TraceUntil::kLastRequest);
    if (!added) {
      say(0, measured.trace + ": " + added.error() + "; its load has no main thread here");
    }
  }
  page.graph = learn_dependencies(page.loads);
  return page;
}

std::vector<std::string> traced(std::vector<std::string> load_words,
                                const std::filesystem::path& folder) {
  load_words.insert(std::ranges::find(load_words, "--"), "--trace=" + folder.string());
  return load_words;
}

std::expected<SidePrediction, std::string> predict_side(const ExperimentSide& base,
                                                        const ExperimentSide& changed,
                                                        const LearntPage& page,
                                                        std::uint64_t seed) {
  auto change = predicted_change(base, changed, page.graph, page.loads);
  if (!change) return std::unexpected(std::move(change.error()));
  auto const& browser = base.cells().front().configuration.browser;
  auto prediction = predict(page.graph, page.loads, change->change,
                            {.link = prediction_link(base),
                             .connects_ahead = !browser.ends_with("headless-shell"),
                             .quantiles = {.5, .75, .9},
                             .seed = seed});
  if (!prediction) return std::unexpected("cannot predict: " + prediction.error());
  return SidePrediction{.prediction = std::move(*prediction),
                        .remarks = std::move(change->remarks)};
}

PageLosses losses_of(const ExperimentSide& recorded, const ExperimentSide& changed) {
  std::set<std::string> meant;
  for (whatif::Effect const& effect : changed.effects()) {
    if (effect.text.ends_with("drop")) return {};  // that is what is asked
    meant.insert(effect.mentioned.begin(), effect.mentioned.end());
  }
  return page_losses(recorded.result(), changed.result(), meant);
}

bool keep_dependencies(const std::filesystem::path& folder, const DependencyGraph& graph) {
  auto const path = folder / "dependency.json";
  auto const written = write_private_file(dependency_graph_json(graph), path);
  if (!written) say(0, path.string() + " cannot be written: " + written.error().message());
  return written.has_value();
}

std::vector<double> milestone_times(const LoadResult& result, Milestone milestone) {
  std::vector<CallLoss> losses;
  std::vector<double> times;
  for (ObservedPage const& load : observed_pages(result, losses)) {
    auto const& time = load.milestones[static_cast<std::size_t>(milestone)];
    if (time) times.push_back(static_cast<double>(*time));
  }
  return times;
}

}  // namespace reprise
