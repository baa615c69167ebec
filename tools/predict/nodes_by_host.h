#pragma once

// The requests of a dependency graph by the hosts and addresses that they had in the loads.

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "analysis/dependency/observed_page.h"
#include "archive/exchange.h"

namespace reprise {

class NodesByHost {
 public:
  NodesByHost(const DependencyGraph& graph, std::span<const ObservedPage> loads);

  /// In any load.
  bool speaks_http1(std::uint32_t node) const { return http1_.contains(node); }
  std::set<std::uint32_t> of_host(std::string_view host) const;
  std::set<std::uint32_t> of_host(std::string_view host, Scheme scheme) const;
  /// With those of other hosts at the same addresses, where hosts of `coalesced` have the addresses
  /// of `page` instead of their own.
  std::set<std::uint32_t> at_addresses_of(std::string_view host, std::string_view page,
                                          const std::set<std::string>& coalesced) const;

 private:
  std::set<std::uint32_t> at_observed_addresses_of(std::string_view host) const;

  using Nodes = std::map<std::string, std::set<std::uint32_t>, std::less<>>;
  Nodes by_host_, by_address_;
  std::set<std::uint32_t> http1_, tls_;  // in any load
  std::map<std::uint32_t, std::string> addresses_;
};

}  // namespace reprise
