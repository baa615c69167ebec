#include "tools/predict/service_report.h"

#include <algorithm>
#include <boost/json.hpp>

#include "analysis/dependency/dependency_json.h"
#include "base/text/counted.h"
#include "base/text/formatted.h"
#include "base/text/printable.h"
#include "base/text/white_space.h"

namespace reprise {
namespace {

namespace json = boost::json;

std::string in_ms(std::int64_t us) {
  return formatted("%.1f", static_cast<double>(us) / kUsPerMs);
}

/// "2", "all of 2, 3", "first of 2, 3"; "2, first of 3, 4".
std::string waits_text(const DependencyGraph& graph, std::uint32_t node) {
  std::string text;
  auto const [begin, end] = graph.edges_to(node);
  std::uint32_t group = 0;
  for (auto const* edge = begin; edge != end; ++edge) {
    if (!text.empty()) text += ", ";
    if (edge->alternative != 0 && edge->alternative != group) text += "first of ";
    group = edge->alternative;
    text += std::to_string(edge->from + 1);
    if (edge->evidence == DependencyEvidence()) text += "?";
  }
  return text.empty() ? "the request" : text;
}

}  // namespace

std::string service_graph_text(const ServiceGraph& graph) {
  auto const& nodes = graph.graph.nodes;
  std::string text;
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    DependencyNode const& node = nodes[i];
    bool const is_answer = i == graph.answer();
    text += align_right(is_answer ? "" : std::to_string(i + 1), 5) + "  " +
            align_left(printable(is_answer ? "answer" : trim(node.label())), 40) +
            align_right(in_ms(node.start_us), 9) + " to " + align_left(in_ms(node.end_us), 8) +
            " ms  after " + waits_text(graph.graph, i);
    if (node.loads < graph.graph.loads) {
      text += "; in " + std::to_string(node.loads) + " of " + counted(graph.graph.loads, "request");
    }
    if (graph.retried[i] > 0) {
      text += "; made again in " + std::to_string(graph.retried[i]);
    }
    if (std::ranges::find(graph.background, i) != graph.background.end()) {
      text += "; nothing waits for it";
    }
    text += "\n";
  }
  if (auto const ambiguous = graph.ambiguous(); !ambiguous.empty()) {
    text += "  ? ambiguous: the call always ended before, which can be chance\n";
  }
  return text;
}

json::object service_graph_json(const ServiceGraph& graph) {
  json::object out = json::parse(dependency_graph_json(graph.graph)).as_object();
  json::array ambiguous;
  for (auto const edge : graph.ambiguous()) {
    DependencyEdge const& each = graph.graph.edges[edge];
    ambiguous.push_back(
        json::object{{"from", each.from}, {"to", each.to}, {"slack_us", each.slack_us}});
  }
  out["ambiguous"] = std::move(ambiguous);
  out["background"] = json::value_from(graph.background);
  json::array retried;
  for (std::uint32_t node = 0; node < graph.retried.size(); ++node) {
    if (graph.retried[node] == 0) continue;
    retried.push_back(json::object{{"node", node}, {"requests", graph.retried[node]}});
  }
  out["retried"] = std::move(retried);
  out["grain_us"] = graph.grain_us;
  return out;
}

std::string think_times_text(const std::vector<double>& times_us) {
  std::string text;
  for (double const time : times_us) text += formatted("%.3f\n", time / kUsPerMs);
  return text;
}

}  // namespace reprise
