#pragma once

// Services whose graphs are known, and spans of requests to them. Deterministic by seed.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analysis/dependency/dependency_graph.h"
#include "analysis/spans/span.h"

namespace reprise {

struct GeneratedCall {
  std::string dependency;
  std::string operation;
  std::uint32_t occurrence = 0;
  std::vector<std::uint32_t> all_of;    ///< earlier calls that it waits for
  std::vector<std::uint32_t> first_of;  ///< and of these, one
  double median_ms = 1;
  double spread = .5;  ///< of the logarithm
  double own_ms = .3;  ///< the mean of the work before it
  double there = 1;    ///< the share of requests that make it
  double fails = 0;    ///< the share of attempts that fail, and are made again once
};

struct GeneratedService {
  std::vector<GeneratedCall> calls;
  std::vector<std::uint32_t> answer_all_of, answer_first_of;
  double own_ms = .5;
  bool rounds_starts = false;  ///< its tracer knows when a span starts to the ms

  /// As it is inferred when it is inferred right.
  DependencyGraph truth() const;
};

/// Sequences, parallel calls and chains with joins, first-of, repeated calls, calls that only some
/// requests make, retries, and calls that nothing waits for.
GeneratedService generate_service(std::uint64_t seed);

/// Traces of so many requests, one after the other. Times of the dependencies in `factors` are
/// multiplied.
SpanSet simulate_requests(const GeneratedService& service, std::uint64_t seed, std::size_t count,
                          const std::map<std::string, double>& factors = {});

}  // namespace reprise
