#include "tools/predict/answered_nodes.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "analysis/dependency/observed_page.h"
#include "analysis/dependency/page_nodes.h"
#include "base/http/url_parts.h"

namespace reprise {
namespace {

using MethodAndUrl = std::pair<std::string, std::string>;

std::string_view before_query(std::string_view url) {
  auto const whole = without_fragment(url);
  return whole.substr(0, whole.find('?'));
}

/// The recording as a load of the page: call n is request n.
ObservedPage as_load(std::span<const whatif::PageRequest> recorded) {
  ObservedPage load;
  for (whatif::PageRequest const& request : recorded) {
    auto const order = static_cast<std::int64_t>(load.calls.calls.size());
    Call call{.name = request.url, .start_us = order, .end_us = order};
    call.set("method", request.method);
    load.calls.calls.push_back(std::move(call));
  }
  return load;
}

class Answers {
 public:
  Answers(const DependencyGraph& graph, std::span<const whatif::PageRequest> recorded)
      : graph_(graph), recorded_(recorded), nodes_(recorded.size()), by_(graph.nodes.size()) {}

  std::vector<std::set<std::uint32_t>> find() && {
    answer_in_order();
    answer_by_the_last();
    answer_by_the_path();
    return std::move(nodes_);
  }

 private:
  void answer(std::uint32_t node, std::size_t request) {
    by_[node] = request;
    nodes_[request].insert(node);
  }
  bool is_open(std::uint32_t node) const {
    return graph_.nodes[node].kind == DependencyNodeKind::kRequest && !by_[node];
  }
  MethodAndUrl key_of(std::uint32_t node) const {
    return {graph_.nodes[node].method, graph_.nodes[node].name};
  }

  void answer_in_order() {
    auto const placed = place_nodes(graph_, as_load(recorded_));
    for (std::uint32_t node = 0; node < placed.size(); ++node) {
      if (placed[node] && is_open(node)) answer(node, placed[node]->call);
    }
  }

  /// A replay repeats the last response to a request that is made more often than it was recorded.
  void answer_by_the_last() {
    std::map<MethodAndUrl, std::uint32_t> last;
    for (std::uint32_t node = 0; node < by_.size(); ++node) {
      if (!by_[node]) continue;
      auto& known = last.try_emplace(key_of(node), node).first->second;
      if (graph_.nodes[known].occurrence < graph_.nodes[node].occurrence) known = node;
    }
    for (std::uint32_t node = 0; node < by_.size(); ++node) {
      if (!is_open(node)) continue;
      auto const known = last.find(key_of(node));
      if (known != last.end()) answer(node, *by_[known->second]);
    }
  }

  void answer_by_the_path() {
    std::map<MethodAndUrl, std::vector<std::size_t>> unused;  // the next one is the last element
    for (auto i = recorded_.size(); i-- > 0;) {
      if (!nodes_[i].empty()) continue;
      unused[{recorded_[i].method, std::string(before_query(recorded_[i].url))}].push_back(i);
    }
    for (std::uint32_t node = 0; node < by_.size(); ++node) {
      if (!is_open(node)) continue;
      auto const& [method, name] = key_of(node);
      auto const same = unused.find({method, std::string(before_query(name))});
      if (same == unused.end()) continue;
      answer(node, same->second.back());
      if (same->second.size() > 1) same->second.pop_back();
    }
  }

  const DependencyGraph& graph_;
  std::span<const whatif::PageRequest> recorded_;
  std::vector<std::set<std::uint32_t>> nodes_;
  std::vector<std::optional<std::size_t>> by_;  ///< by node, what answers it
};

}  // namespace

std::vector<std::set<std::uint32_t>> answered_nodes(const DependencyGraph& graph,
                                                    std::span<const whatif::PageRequest> recorded) {
  return Answers(graph, recorded).find();
}

}  // namespace reprise
