#include "tools/predict/learnt_page.h"

#include <algorithm>

#include "analysis/dependency/dependency_json.h"
#include "analysis/dependency/learn.h"
#include "analysis/sources/load_calls.h"
#include "analysis/sources/trace_calls.h"
#include "base/system/private_file.h"
#include "base/system/text_file.h"
#include "base/text/counted.h"
#include "proxy/whatif/intervention.h"
#include "tools/predict/predicted_change.h"
#include "tools/process/say.h"

namespace reprise {
namespace {

constexpr const char* kDependencyFile = "dependency.json";
/// Of drawn think times. A load of a large page takes milliseconds.
constexpr std::size_t kSamplesMax = 4'000;

}  // namespace

std::vector<ObservedPage> observed_loads(const LoadResult& result) {
  std::vector<CallLoss> losses;  // of whole loads, which experiments have told
  auto loads = observed_pages(result, losses);
  for (ObservedPage& load : loads) {
    PageLoad const& measured = result.loads[load.load].page;
    if (measured.trace.empty()) continue;
    auto const added = add_trace_file(measured.trace, urls_in_trace(measured), load.calls,
                                      TraceUntil::kLastRequest);
    if (!added) {
      say(0, measured.trace + ": " + added.error() + "; its load has no main thread here");
    }
  }
  return loads;
}

LearntPage learn_page(const LoadResult& result) {
  LearntPage page{.loads = observed_loads(result), .graph = {}, .tests = {}};
  page.graph = learn_dependencies(page.loads);
  if (page.graph.nodes_not_kept > 0) {
    say(0, "the page does more than is learnt: without its last " +
               counted(page.graph.nodes_not_kept, "request") + " and tasks");
  }
  if (page.graph.edges_not_kept > 0) {
    say(0, "the page has more dependencies than are kept: without " +
               counted(page.graph.edges_not_kept, "dependency", "dependencies") +
               " on its first scripts and style sheets");
  }
  return page;
}

std::vector<std::string> traced(std::vector<std::string> load_words,
                                const std::filesystem::path& folder) {
  auto const flags = std::ranges::find(load_words, "--");
  bool const has_folder = std::any_of(load_words.begin(), flags, [](const std::string& word) {
    return word == "--trace" || word.starts_with("--trace=");
  });
  if (!has_folder) load_words.insert(flags, "--trace=" + folder.string());
  return load_words;
}

std::expected<SidePrediction, std::string> predict_side(const ExperimentSide& base,
                                                        const ExperimentSide& changed,
                                                        const LearntPage& page, std::uint64_t seed,
                                                        std::span<const double> quantiles,
                                                        std::optional<double> slowdown) {
  auto change = predicted_change(base, changed, page.graph, page.loads, slowdown);
  if (!change) return std::unexpected(std::move(change.error()));
  auto const& browser = base.cells().front().configuration.browser;
  auto prediction = predict(page.graph, page.loads, change->change,
                            {.link = prediction_link(base),
                             .connects_ahead = !browser.ends_with("headless-shell"),
                             .quantiles = std::vector(quantiles.begin(), quantiles.end()),
                             .samples_max = kSamplesMax,
                             .seed = seed});
  if (!prediction) return std::unexpected("cannot predict: " + prediction.error());
  SidePrediction side{.prediction = std::move(*prediction), .remarks = std::move(change->remarks)};
  if (!std::ranges::all_of(side.prediction.milestones, &MilestonePrediction::within_bound)) {
    side.remarks.push_back("the quantiles are not within 1 % after " +
                           counted(side.prediction.samples, "sample"));
  }
  return side;
}

PageLosses losses_of(const ExperimentSide& recorded, const ExperimentSide& changed) {
  std::set<std::string> meant;
  for (whatif::Effect const& effect : changed.effects()) {
    meant.insert(effect.mentioned.begin(), effect.mentioned.end());
  }
  auto const interventions = whatif::parse_interventions(changed.what_if_options().texts);
  for (auto i = recorded.effects().size(); interventions && i < interventions->size(); ++i) {
    if ((*interventions)[i].as<whatif::Drop>() != nullptr) return {};  // that is what is asked
  }
  return page_losses(recorded.result(), changed.result(), meant);
}

std::expected<std::optional<DependencyGraph>, std::string> kept_dependencies(
    const std::filesystem::path& folder, const std::string& page) {
  auto const path = folder / kDependencyFile;
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return std::nullopt;
  auto const text = read_text_file(path, kDependencyBytesMax);
  if (!text) return std::unexpected(path.string() + ": " + text.error().message());
  auto graph = read_dependency_graph(*text);
  if (!graph) return std::unexpected(path.string() + ": " + graph.error());
  bool const is_tested =
      std::ranges::any_of(graph->edges, [](auto const& each) { return each.evidence.held_back; });
  if (!is_tested || graph->page != page) return std::nullopt;
  return std::move(*graph);
}

bool keep_dependencies(const std::filesystem::path& folder, const DependencyGraph& graph) {
  auto const path = folder / kDependencyFile;
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
