#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "analysis/dependency/perturbation.h"

namespace reprise {
namespace {

/// Of each of `nodes`, the equal one of the graph.
std::vector<std::optional<std::uint32_t>> places_in(const DependencyGraph& graph,
                                                    const std::vector<DependencyNode>& nodes) {
  std::map<std::string, std::uint32_t> labels;
  for (std::uint32_t i = 0; i < graph.nodes.size(); ++i) labels[graph.nodes[i].label()] = i;
  std::vector<std::optional<std::uint32_t>> places(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    auto const found = labels.find(nodes[i].label());
    if (found != labels.end()) places[i] = found->second;
  }
  return places;
}

}  // namespace

std::vector<DependencyFinding> DependencySearch::take_earlier(const TestedPage& earlier) {
  auto const before = graph_.edges;
  auto const& nodes = earlier.graph.nodes;
  auto const places = places_in(graph_, nodes);
  // Nothing if one of them is not a node here, or not before `to`.
  auto const here = [&](const Nodes& held, std::uint32_t to) -> std::optional<Nodes> {
    Nodes found;
    for (auto const node : held) {
      bool const is_request =
          places[node] && graph_.nodes[*places[node]].kind == DependencyNodeKind::kRequest;
      if (!is_request || *places[node] >= to) return std::nullopt;
      found.push_back(*places[node]);
    }
    std::ranges::sort(found);
    bool const is_twice = std::ranges::adjacent_find(found) != found.end();
    return is_twice ? std::nullopt : std::optional(std::move(found));
  };
  for (DependencyTest const& test : earlier.tests) {
    auto const held = here(test.held, static_cast<std::uint32_t>(graph_.nodes.size()));
    if (!held) continue;
    auto& waits = tested_[*held];
    bool const is_known = std::ranges::any_of(waits, [](auto& each) { return each.has_value(); });
    if (is_known) continue;
    waits.assign(graph_.nodes.size(), std::nullopt);
    for (std::size_t node = 0; node < nodes.size(); ++node) {
      if (places[node]) waits[*places[node]] = test.waits[node];
    }
    if (held->size() == 1) alone_[held->front()] = &waits;
  }
  std::set<Hypothesis> supposed(hypotheses_.begin(), hypotheses_.end());
  auto const& edges = earlier.graph.edges;
  for (std::size_t i = 0, end = 0; i < edges.size(); i = end) {
    Nodes held;
    for (; end < edges.size() && edges[end].to == edges[i].to &&
           edges[end].alternative == edges[i].alternative;
         ++end) {
      held.push_back(edges[end].from);
    }
    auto const to = places[edges[i].to];
    if (edges[i].alternative == 0 || held.size() < 2 || !to) continue;
    bool const is_too_much =
        held.size() > DependencyTest::kHeldMax || hypotheses_.size() >= TestedPage::kTestsMax;
    if (is_too_much) continue;
    auto found = here(held, *to);
    if (!found) continue;
    Hypothesis hypothesis{.to = *to, .held = std::move(*found)};
    if (supposed.insert(hypothesis).second) hypotheses_.push_back(std::move(hypothesis));
  }
  if (tested_.empty()) return {};
  rebuild();
  return findings_since(before);
}

std::vector<DependencyTest> DependencySearch::tests() const {
  std::vector<DependencyTest> tests;
  for (auto const& [held, waits] : tested_) {
    DependencyTest test{.held = held, .waits = waits};
    if (!test.says_nothing()) tests.push_back(std::move(test));
  }
  return tests;
}

}  // namespace reprise
