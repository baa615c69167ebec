#include "analysis/dependency/dependency_json.h"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <cmath>
#include <set>
#include <tuple>

#include "analysis/calls/call.h"

namespace reprise {
namespace {

namespace json = boost::json;

constexpr std::string_view kSchema = "reprise-dependency/1";
constexpr std::array<std::string_view, 3> kNodeKinds = {"request", "task", "milestone"};
constexpr std::array<std::pair<std::string_view, bool DependencyEvidence::*>, 3> kEvidence = {{
    {"named", &DependencyEvidence::named},
    {"steady", &DependencyEvidence::steady},
    {"held back", &DependencyEvidence::held_back},
}};

std::int64_t read_us(Fields& fields, std::string_view name) {
  auto const number = fields.number(name).value_or(0);
  if (number > static_cast<double>(CallTree::kWindowUsMax)) fields.wrong(name, "is over a day");
  return std::llround(number);
}

std::uint32_t read_count(Fields& fields, std::string_view name) {
  auto const number = fields.whole(name);
  if (number > UINT32_MAX) fields.wrong(name, "is out of range");
  return static_cast<std::uint32_t>(number);
}

DependencyNode read_node(Fields& fields) {
  DependencyNode node;
  auto const kind = std::ranges::find(kNodeKinds, fields.text("kind"));
  if (kind == kNodeKinds.end()) {
    fields.wrong("kind", "must be request, task or milestone");
  } else {
    node.kind = static_cast<DependencyNodeKind>(kind - kNodeKinds.begin());
  }
  node.name = fields.text("name");
  bool const is_milestone = node.kind == DependencyNodeKind::kMilestone;
  if (is_milestone && std::ranges::find(kMilestoneNames, node.name) == kMilestoneNames.end()) {
    fields.wrong("name", "is not the name of a milestone");
  }
  node.method = fields.text("method");
  node.type = fields.text("type");
  node.url = fields.text("url");
  node.function = fields.text("function");
  node.occurrence = read_count(fields, "occurrence");
  node.loads = read_count(fields, "loads");
  node.start_us = read_us(fields, "start_us");
  node.end_us = read_us(fields, "end_us");
  if (node.end_us < node.start_us) fields.wrong("end_us", "is before start_us");
  return node;
}

DependencyEdge read_edge(Fields& fields, std::size_t nodes) {
  DependencyEdge edge;
  edge.from = read_count(fields, "from");
  edge.to = read_count(fields, "to");
  if (edge.to >= nodes) fields.wrong("to", "is not a node");
  if (edge.from >= edge.to) fields.wrong("from", "must be less than to");
  if (auto const kind = dependency_kind(fields.text("kind"))) {
    edge.kind = *kind;
  } else {
    fields.wrong("kind", "is not a kind of dependency");
  }
  if (auto const after = dependency_after(fields.text("after"))) {
    edge.after = *after;
  } else {
    fields.wrong("after", "must be start, sent, first byte or end");
  }
  edge.alternative = read_count(fields, "alternative");
  edge.loads = read_count(fields, "loads");
  // A gap is below 0 by rounding, and between alternatives.
  auto const gap = fields.signed_number("gap_us");
  if (std::abs(gap) > static_cast<double>(CallTree::kWindowUsMax)) {
    fields.wrong("gap_us", "is over a day");
  }
  edge.gap_us = std::llround(gap);
  edge.gap_spread_us = read_us(fields, "gap_spread_us");
  edge.slack_us = read_us(fields, "slack_us");
  for (std::string const& word : fields.texts("evidence")) {
    auto const known = std::ranges::find(
        kEvidence, word, &std::pair<std::string_view, bool DependencyEvidence::*>::first);
    if (known == kEvidence.end()) {
      fields.wrong("evidence", "must be named, steady or held back");
    } else {
      edge.evidence.*known->second = true;
    }
  }
  return edge;
}

json::object object_of(const DependencyGraph& graph, std::uint32_t place) {
  DependencyNode const& node = graph.nodes[place];
  json::object object = {{"kind", kNodeKinds[static_cast<std::size_t>(node.kind)]},
                         {"name", node.name}};
  auto const add = [&object](std::string_view name, const std::string& value) {
    if (!value.empty()) object[name] = value;
  };
  add("method", node.method);
  add("type", node.type);
  add("url", node.url);
  add("function", node.function);
  if (node.occurrence != 0) object["occurrence"] = node.occurrence;
  object["join"] = to_string(graph.join(place));
  object["loads"] = node.loads;
  object["start_us"] = node.start_us;
  object["end_us"] = node.end_us;
  return object;
}

json::object object_of(const DependencyEdge& edge) {
  json::object object = {{"from", edge.from},
                         {"to", edge.to},
                         {"kind", to_string(edge.kind)},
                         {"after", to_string(edge.after)}};
  if (edge.alternative != 0) object["alternative"] = edge.alternative;
  object["loads"] = edge.loads;
  object["gap_us"] = edge.gap_us;
  object["gap_spread_us"] = edge.gap_spread_us;
  object["slack_us"] = edge.slack_us;
  json::array evidence;
  for (auto const& [word, holds] : kEvidence) {
    if (edge.evidence.*holds) evidence.emplace_back(word);
  }
  object["evidence"] = std::move(evidence);
  return object;
}

}  // namespace

std::expected<DependencyGraph, std::string> read_dependency_graph(std::string_view text) {
  auto const object = parse_object(text, kDependencyBytesMax >> 20);
  if (!object) return std::unexpected(object.error());
  std::string wrong;
  Fields fields(*object, "", wrong);
  auto graph = read_dependency_graph(fields);
  if (!wrong.empty()) return std::unexpected(std::move(wrong));
  return graph;
}

DependencyGraph read_dependency_graph(Fields& fields) {
  DependencyGraph graph;
  if (fields.text("schema") != kSchema) {
    fields.wrong("schema", "must be " + std::string(kSchema));
    return graph;
  }
  graph.page = fields.text("page");
  graph.loads = read_count(fields, "loads");
  graph.nodes_not_kept = fields.whole("nodes_not_kept");
  graph.edges_not_kept = fields.whole("edges_not_kept");
  std::set<std::string> labels;
  fields.each("nodes", DependencyGraph::kNodesMax, [&](Fields node) {
    graph.nodes.push_back(read_node(node));
    if (!labels.insert(graph.nodes.back().label()).second) {
      node.wrong("occurrence", "is that of an equal node");
    }
  });
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, DependencyKind, DependencyAfter>>
      edges;
  fields.each("edges", DependencyGraph::kEdgesMax, [&](Fields edge) {
    DependencyEdge const read = read_edge(edge, graph.nodes.size());
    if (!edges.emplace(read.from, read.to, read.alternative, read.kind, read.after).second) {
      edge.wrong("from", "is that of an equal edge");
    }
    graph.edges.push_back(read);
  });
  sort_edges(graph.edges);
  return graph;
}

boost::json::object dependency_graph_object(const DependencyGraph& graph) {
  json::array nodes;
  for (std::uint32_t i = 0; i < graph.nodes.size(); ++i) nodes.push_back(object_of(graph, i));
  json::array edges;
  for (DependencyEdge const& edge : graph.edges) edges.push_back(object_of(edge));
  json::object object = {{"schema", kSchema},
                         {"page", graph.page},
                         {"loads", graph.loads},
                         {"nodes", std::move(nodes)},
                         {"edges", std::move(edges)}};
  if (graph.nodes_not_kept != 0) object["nodes_not_kept"] = graph.nodes_not_kept;
  if (graph.edges_not_kept != 0) object["edges_not_kept"] = graph.edges_not_kept;
  return object;
}

std::string dependency_graph_json(const DependencyGraph& graph) {
  return json::serialize(dependency_graph_object(graph)) + "\n";
}

}  // namespace reprise
