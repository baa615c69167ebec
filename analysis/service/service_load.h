#pragma once

// Many users of one replica of a service at a time: a closed loop, event by event. Pure.

#include <cstdint>
#include <functional>
#include <random>

#include "analysis/service/changed_request.h"

namespace reprise {

/// Each user makes a request, a row drawn by `random`, as soon as the last one is answered. The own
/// work of all requests is done by `workers` in the order in which it comes up; calls take their
/// time beside it, by the concurrency of calls to their dependency where the profile knows that.
struct ServiceLoad {
  std::uint32_t users = 1;
  std::uint32_t workers = 1;
  /// Of the observed own work. Below 1 the rest was waiting; above 1 the spans lack work.
  double work_factor = 1;

  /// Calls `answered(row, took_us)` for each request after the first ones of each user, until it
  /// returns false. Returns the mean own work of a request, in us.
  double run(const ChangedRequests& requests, std::mt19937_64& random,
             const std::function<bool(std::size_t row, std::int64_t took_us)>& answered) const;
};

}  // namespace reprise
