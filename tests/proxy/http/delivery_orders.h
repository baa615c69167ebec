#pragma once

// The orders in which responses end, by the priorities of their requests (RFC 9218). HTTP/2 and
// HTTP/3 have schedulers of their own, and both are tested with these.

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

namespace reprise {

/// Requests that arrive together, for bodies of one size.
struct DeliveryOrder {
  const char* name;
  std::vector<std::string> priorities;  ///< each request's `priority` field; empty: none
  std::vector<std::size_t> ends;        ///< the requests, by their position, as they end
};

inline const std::vector<DeliveryOrder>& delivery_orders() {
  static const std::vector<DeliveryOrder> all{
      {"WithoutPriorities", {"", "", ""}, {0, 1, 2}},
      {"OfOneUrgency", {"u=5", "u=5", "u=5"}, {0, 1, 2}},
      {"MoreUrgentFirst", {"u=6", "u=4", "u=2", "u=0"}, {3, 2, 1, 0}},
      {"WithoutTheFieldUrgencyIsThree", {"u=4", "", "u=2"}, {2, 1, 0}},
      {"InvalidPrioritiesAreIgnored", {"u=99", "u=(", "u=2"}, {2, 0, 1}},
      {"UrgentBeforeIncremental", {"u=3, i", "u=3, i", "u=1"}, {2, 0, 1}},
      {"LessUrgentAfterIncremental", {"u=5", "u=3, i", "u=3, i"}, {1, 2, 0}},
      {"AsABrowserAsks",  // document, style sheets, script, images
       {"u=0, i", "u=0", "u=1", "u=3, i", "u=5, i"},
       {1, 0, 2, 3, 4}},
  };
  return all;
}

inline std::string name_of_order(const testing::TestParamInfo<DeliveryOrder>& order) {
  return order.param.name;
}

}  // namespace reprise
