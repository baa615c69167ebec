#include "tools/predict/nodes_by_host.h"

#include <algorithm>

#include "analysis/dependency/page_nodes.h"
#include "base/http/url_parts.h"

namespace reprise {

NodesByHost::NodesByHost(const DependencyGraph& graph, std::span<const ObservedPage> loads) {
  for (ObservedPage const& load : loads) {
    auto const placed = place_nodes(graph, load);
    for (std::uint32_t i = 0; i < placed.size(); ++i) {
      if (!placed[i] || graph.nodes[i].kind != DependencyNodeKind::kRequest) continue;
      Call const& call = load.calls.calls[placed[i]->call];
      auto const parts = url_parts(call.name);
      by_host_[std::string(parts.host)].insert(i);
      if (parts.scheme == "https") tls_.insert(i);
      if (call.attribute("protocol").starts_with("http/1")) http1_.insert(i);
      if (auto const address = call.attribute("address"); !address.empty()) {
        auto const without_port = address.substr(0, address.rfind(':'));
        addresses_[i] = without_port;
        by_address_[std::string(without_port)].insert(i);
      }
    }
  }
}

std::set<std::uint32_t> NodesByHost::of_host(std::string_view host) const {
  auto const found = by_host_.find(host);
  return found == by_host_.end() ? std::set<std::uint32_t>() : found->second;
}

std::set<std::uint32_t> NodesByHost::of_host(std::string_view host, Scheme scheme) const {
  auto nodes = of_host(host);
  std::erase_if(nodes,
                [&](auto node) { return tls_.contains(node) != (scheme == Scheme::kHttps); });
  return nodes;
}

std::set<std::uint32_t> NodesByHost::at_addresses_of(std::string_view host, std::string_view page,
                                                     const std::set<std::string>& coalesced) const {
  bool const has_moved = std::ranges::find(coalesced, host) != coalesced.end();
  auto nodes = at_observed_addresses_of(has_moved ? page : host);
  std::set<std::uint32_t> moved;
  for (auto const& each : coalesced) moved.merge(of_host(each));
  std::erase_if(nodes, [&](auto node) { return moved.contains(node); });
  auto const is_there = [&](auto node) { return nodes.contains(node); };
  if (std::ranges::any_of(of_host(page), is_there)) nodes.merge(moved);
  return nodes;
}

std::set<std::uint32_t> NodesByHost::at_observed_addresses_of(std::string_view host) const {
  auto nodes = of_host(host);
  std::set<std::string_view> addresses;
  for (auto const node : nodes) {
    auto const address = addresses_.find(node);
    if (address != addresses_.end()) addresses.insert(address->second);
  }
  for (auto const address : addresses) {
    auto const& there = by_address_.find(address)->second;
    nodes.insert(there.begin(), there.end());
  }
  return nodes;
}

}  // namespace reprise
