#include "analysis/dependency/page_nodes.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "analysis/verdict.h"
#include "archive/match/parameters.h"
#include "base/http/url_parts.h"

namespace reprise {
namespace {

constexpr std::string_view kAnyValue = "*";

/// A URL in two: before the query, and its parameters.
struct SplitUrl {
  std::string_view base;
  std::vector<Parameter> parameters;
};

SplitUrl split(std::string_view url) {
  auto const whole = without_fragment(url);
  auto const query = whole.find('?');
  if (query == std::string_view::npos) return {.base = whole, .parameters = {}};
  Parameters parameters;
  parameters.add_query(whole.substr(query + 1));
  return {.base = whole.substr(0, query), .parameters = parameters.list()};
}

/// Method, URL up to the query, and names of the parameters.
std::string family_of(std::string_view method, const SplitUrl& url) {
  auto family = std::string(method) + " " + std::string(url.base) + "?";
  for (Parameter const& parameter : url.parameters) family += "&" + std::string(parameter.name);
  return family;
}

std::string url_with(const SplitUrl& url, const auto& value_of) {
  std::string text(url.base);
  for (std::size_t i = 0; i < url.parameters.size(); ++i) {
    text += i == 0 ? "?" : "&";
    text += std::string(url.parameters[i].name) + "=" + std::string(value_of(i));
  }
  return text;
}

bool fits(const SplitUrl& pattern, const SplitUrl& url) {
  for (std::size_t i = 0; i < url.parameters.size(); ++i) {
    auto const wanted = pattern.parameters[i].value;
    if (wanted != kAnyValue && wanted != url.parameters[i].value) return false;
  }
  return true;
}

/// Outermost calls of a kind, in the order of their starts.
std::vector<std::uint32_t> requests_of(const CallTree& tree) {
  std::vector<std::uint32_t> calls;
  for (std::uint32_t i = 0; i < tree.calls.size(); ++i) {
    if (tree.calls[i].kind == CallKind::kRequest) calls.push_back(i);
  }
  std::ranges::sort(calls, {},
                    [&tree](std::uint32_t i) { return std::pair(tree.calls[i].start_us, i); });
  return calls;
}

std::vector<std::uint32_t> tasks_of(const CallTree& tree) {
  std::vector<std::uint32_t> calls;
  std::vector<bool> in_script(tree.calls.size());
  for (std::uint32_t i = 0; i < tree.calls.size(); ++i) {
    Call const& call = tree.calls[i];
    if (call.kind != CallKind::kTask) continue;
    bool const around = call.parent != kNoParent && in_script[call.parent];
    bool const is_script = !call.attribute("url").empty();
    in_script[i] = around || is_script;
    if (is_script && !around) calls.push_back(i);
  }
  std::ranges::sort(calls, {},
                    [&tree](std::uint32_t i) { return std::pair(tree.calls[i].start_us, i); });
  return calls;
}

/// `url` is that of its script, as the node has it.
DependencyNode task_node(const Call& call, std::string url) {
  return {.kind = DependencyNodeKind::kTask,
          .name = call.name,
          .url = std::move(url),
          .function = std::string(call.attribute("function"))};
}

/// Which requests are the same, in the loads of one page.
class RequestPatterns {
 public:
  explicit RequestPatterns(std::span<const ObservedPage> loads) {
    for (std::size_t load = 0; load < loads.size(); ++load) {
      CallTree const& tree = loads[load].calls;
      for (auto const i : requests_of(tree)) {
        auto const method = tree.calls[i].attribute("method");
        exact_[std::string(method) + " " + std::string(without_fragment(tree.calls[i].name))]
            .insert(load);
        auto const url = split(tree.calls[i].name);
        auto& values = families_[family_of(method, url)];
        values.resize(url.parameters.size());
        for (std::size_t k = 0; k < values.size(); ++k) {
          values[k][std::string(url.parameters[k].value)].insert(load);
        }
      }
    }
    several_ = loads.size() > 1;
  }

  std::string pattern_of(std::string_view method, std::string_view url) const {
    auto const whole = without_fragment(url);
    auto const exact = exact_.find(std::string(method) + " " + std::string(whole));
    bool const is_requested = exact != exact_.end();
    if (!several_ || !is_requested || exact->second.size() > 1) return std::string(whole);
    auto const parts = split(url);
    auto const& values = families_.at(family_of(method, parts));
    return url_with(parts, [&](std::size_t k) {
      auto const value = std::string(parts.parameters[k].value);
      return values[k].at(value).size() > 1 ? value : std::string(kAnyValue);
    });
  }

 private:
  std::map<std::string, std::set<std::size_t>> exact_;
  /// For each parameter, the loads with each of its values.
  std::map<std::string, std::vector<std::map<std::string, std::set<std::size_t>>>> families_;
  bool several_ = false;
};

NodeTimes times_of(const CallTree& tree, std::uint32_t i,
                   std::span<const std::vector<std::uint32_t>> phases) {
  Call const& call = tree.calls[i];
  NodeTimes times{.start_us = call.start_us,
                  .sent_us = call.start_us,
                  .first_byte_us = call.kind == CallKind::kRequest ? call.end_us : call.start_us,
                  .end_us = call.end_us,
                  .call = i,
                  .is_unfinished = !call.attribute("unfinished").empty()};
  for (auto const k : phases[i]) {
    Call const& phase = tree.calls[k];
    if (phase.name == "receive") {
      times.first_byte_us = phase.start_us;
    } else if (phase.name != "send" && phase.name != "wait") {
      times.sent_us = std::max(times.sent_us, phase.end_us);
    }
  }
  return times;
}

/// Down to kNodesMax; milestones stay.
void cut_latest(DependencyGraph& graph) {
  auto& nodes = graph.nodes;
  for (auto i = nodes.size(); nodes.size() > DependencyGraph::kNodesMax && i-- > 0;) {
    if (nodes[i].kind == DependencyNodeKind::kMilestone) continue;
    nodes.erase(nodes.begin() + static_cast<std::ptrdiff_t>(i));
    ++graph.nodes_not_kept;
  }
}

/// A node's times in all loads, to judge it by.
struct Seen {
  std::vector<double> starts, ends, lengths;
};

}  // namespace

std::int64_t NodeTimes::at(DependencyAfter after) const {
  switch (after) {
    case DependencyAfter::kStart:
      return start_us;
    case DependencyAfter::kSent:
      return sent_us;
    case DependencyAfter::kFirstByte:
      return first_byte_us;
    case DependencyAfter::kEnd:
      break;
  }
  return end_us;
}

bool NodeTimes::has(DependencyAfter after) const {
  if (!is_unfinished) return true;
  if (after == DependencyAfter::kFirstByte) return first_byte_us < end_us;
  return after != DependencyAfter::kEnd;
}

PlacedLoad place_nodes(const DependencyGraph& graph, const ObservedPage& load) {
  std::map<std::string, std::uint32_t> nodes;
  std::map<std::string, std::vector<SplitUrl>> patterns;  // by family
  for (std::uint32_t i = 0; i < graph.nodes.size(); ++i) {
    DependencyNode const& node = graph.nodes[i];
    nodes[node.label()] = i;
    if (node.kind != DependencyNodeKind::kRequest || node.occurrence > 0) continue;
    auto pattern = split(node.name);
    patterns[family_of(node.method, pattern)].push_back(std::move(pattern));
  }
  // As a node has it; a URL that no node has is its own.
  auto const pattern_of = [&](std::string_view method, std::string_view url) {
    DependencyNode node{.name = std::string(without_fragment(url)), .method = std::string(method)};
    if (nodes.contains(node.label())) return node.name;
    auto const parts = split(url);
    auto const family = patterns.find(family_of(method, parts));
    if (family == patterns.end()) return node.name;
    auto const pattern = std::ranges::find_if(
        family->second, [&](const SplitUrl& each) { return fits(each, parts); });
    if (pattern == family->second.end()) return node.name;
    return url_with(*pattern, [&](std::size_t k) { return pattern->parameters[k].value; });
  };
  PlacedLoad placed(graph.nodes.size());
  CallTree const& tree = load.calls;
  std::vector<std::vector<std::uint32_t>> phases(tree.calls.size());
  for (std::uint32_t i = 0; i < tree.calls.size(); ++i) {
    Call const& call = tree.calls[i];
    if (call.kind == CallKind::kPhase && call.parent != kNoParent) phases[call.parent].push_back(i);
  }
  std::map<std::string, std::uint32_t> occurrences;
  auto const place = [&](DependencyNode node, std::uint32_t call) {
    node.occurrence = occurrences[node.label()]++;
    auto const found = nodes.find(node.label());
    if (found != nodes.end()) placed[found->second] = times_of(tree, call, phases);
  };
  for (auto const i : requests_of(tree)) {
    Call const& call = tree.calls[i];
    auto const method = call.attribute("method");
    place({.name = pattern_of(method, call.name), .method = std::string(method)}, i);
  }
  for (auto const i : tasks_of(tree)) {
    place(task_node(tree.calls[i], pattern_of("GET", tree.calls[i].attribute("url"))), i);
  }
  for (std::size_t i = 0; i < kMilestones; ++i) {
    auto const found = nodes.find(std::string(kMilestoneNames[i]));
    if (!load.milestones[i] || found == nodes.end()) continue;
    auto const at = *load.milestones[i];
    placed[found->second] = {.start_us = at, .sent_us = at, .first_byte_us = at, .end_us = at};
  }
  return placed;
}

DependencyGraph find_nodes(std::span<const ObservedPage> loads) {
  DependencyGraph graph;
  graph.loads = static_cast<std::uint32_t>(loads.size());
  RequestPatterns const patterns(loads);
  std::map<std::string, std::pair<DependencyNode, Seen>> found;
  for (ObservedPage const& load : loads) {
    CallTree const& tree = load.calls;
    if (graph.page.empty()) graph.page = tree.page;
    std::map<std::string, std::uint32_t> occurrences;
    auto const add = [&](DependencyNode node, std::int64_t start_us, std::int64_t end_us) {
      node.occurrence = occurrences[node.label()]++;
      auto& [kept, seen] = found[node.label()];
      if (kept.loads == 0) kept = std::move(node);
      ++kept.loads;
      seen.starts.push_back(static_cast<double>(start_us));
      seen.ends.push_back(static_cast<double>(end_us));
      seen.lengths.push_back(static_cast<double>(end_us - start_us));
    };
    for (auto const i : requests_of(tree)) {
      Call const& call = tree.calls[i];
      auto const method = call.attribute("method");
      add({.name = patterns.pattern_of(method, call.name),
           .method = std::string(method),
           .type = std::string(call.attribute("type"))},
          call.start_us, call.end_us);
    }
    for (auto const i : tasks_of(tree)) {
      auto const& call = tree.calls[i];
      add(task_node(call, patterns.pattern_of("GET", call.attribute("url"))), call.start_us,
          call.end_us);
    }
    for (std::size_t i = 0; i < kMilestones; ++i) {
      if (!load.milestones[i]) continue;
      add({.kind = DependencyNodeKind::kMilestone, .name = std::string(kMilestoneNames[i])},
          *load.milestones[i], *load.milestones[i]);
    }
  }
  std::size_t const most = std::max<std::size_t>(loads.size() > 1 ? 2 : 1, (loads.size() + 1) / 2);
  for (auto& [label, each] : found) {
    auto& [node, seen] = each;
    bool const is_task = node.kind == DependencyNodeKind::kTask;
    if (node.loads < most) continue;
    if (is_task && median(seen.lengths) < static_cast<double>(kTaskNodeUsMin)) continue;
    node.start_us = static_cast<std::int64_t>(median(seen.starts));
    node.end_us = static_cast<std::int64_t>(median(seen.ends));
    graph.nodes.push_back(std::move(node));
  }
  std::ranges::sort(graph.nodes, [](const DependencyNode& a, const DependencyNode& b) {
    auto const key = [](const DependencyNode& node) {
      return std::tuple(node.start_us, node.kind, node.end_us);
    };
    return std::tuple(key(a), a.label()) < std::tuple(key(b), b.label());
  });
  cut_latest(graph);
  return graph;
}

}  // namespace reprise
