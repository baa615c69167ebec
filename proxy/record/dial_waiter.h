#pragma once

#include <vector>

#include "proxy/http/event.h"
#include "proxy/record/origin_dialer.h"

namespace reprise {

/// An exchange that waits for the connection that another one dials. In the list as long as it
/// lives.
struct DialWaiter {
  DialWaiter(std::vector<DialWaiter*>& waiters, const OriginDialer::Target& target, Reach reach)
      : waiters(waiters), target(target), reach(reach) {
    waiters.push_back(this);
  }
  ~DialWaiter() { std::erase(waiters, this); }
  DialWaiter(const DialWaiter&) = delete;
  DialWaiter& operator=(const DialWaiter&) = delete;

  std::vector<DialWaiter*>& waiters;
  const OriginDialer::Target& target;
  Reach reach;
  KeptFacts failed;  ///< says why the origin cannot be reached; null otherwise
  Event event;
};

}  // namespace reprise
