#pragma once

// Why one load took longer than another one, by their timelines alone: what each request is worth
// on the critical chains of both. Nothing is measured again, so the loads can be of different
// pages. Pure.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/calls/call.h"
#include "pageload/results/page_load.h"

namespace reprise {

/// A load with its calls, as analysis/sources/load_calls.h makes them. Borrows the load.
struct LoadTimeline {
  const PageLoad& load;
  CallTree tree;  ///< each request has its place in PageLoad::requests as the attribute "request"

  static LoadTimeline of(const PageLoad& load, CallTree tree);
  /// The part of it from `from_us` to `to_us` (analysis/calls/interval.h).
  LoadTimeline within(std::int64_t from_us, std::int64_t to_us) const;
};

/// A part of the time in A and in B, in us.
struct TimePair {
  std::int64_t a_us = 0;
  std::int64_t b_us = 0;

  std::int64_t change_us() const { return b_us - a_us; }
};

/// A phase of a request: "queued", "dns", ..., "receive"; "request" if its phases are unknown.
struct PhaseCost {
  std::string name;
  TimePair time;
};

/// Two requests that are each other's partner, or one without a partner.
struct RequestCost {
  std::optional<std::size_t> a;  ///< in PageLoad::requests
  std::optional<std::size_t> b;
  TimePair time;                   ///< the sum of its phases
  std::vector<PhaseCost> phases;   ///< those that are not 0 on both sides, in the order of time
  std::vector<std::string> facts;  ///< "protocol http/1.1 instead of h2"
};

struct TimelineDifference {
  TimePair window;                    ///< the sum of all below
  TimePair gaps;                      ///< between requests: the page's own work, and idle time
  std::vector<RequestCost> requests;  ///< those with the largest change come first
};

/// The parts of both critical chains, request by request (analysis/differences/alignment.h).
TimelineDifference compare_timelines(const LoadTimeline& a, const LoadTimeline& b);

/// Two requests by their own phases, from start to end, whatever waited for them. `a` and `b` are
/// their places in PageLoad::requests.
TimelineDifference compare_requests(const LoadTimeline& a, std::size_t request_a,
                                    const LoadTimeline& b, std::size_t request_b);

/// In what two requests differ, beside their times.
std::vector<std::string> request_facts(const PageRequest& a, const PageRequest& b);

}  // namespace reprise
