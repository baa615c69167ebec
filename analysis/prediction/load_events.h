#pragma once

// What is going to happen in a changed load, by time. Pure.

#include <cstdint>
#include <functional>
#include <queue>
#include <tuple>
#include <vector>

#include "analysis/prediction/tcp_link.h"

namespace reprise {

struct LoadEvent {
  enum Kind {
    kReady,  ///< to start, or to wait for the main thread
    kStart,
    kWork,  ///< work `node` of LoadParts::work is ready for the main thread
    kPreload,
    kPreconnect,
    kPaint,        ///< the first paint `node` waits no longer for preloaded fonts
    kBackup,       ///< another connection of HTTP/1.1, if the first takes long
    kConnect,      ///< it asks for a connection
    kSetupAnswer,  ///< of the connection `node`: it comes to the link
    kSetupStep,    ///< of the connection `node`: it came out
    kSent,
    kFirstByte,  ///< of what is cached
    kAnswer,     ///< it comes to the link
    kEnd,
    kFailed
  };
  double at_us = 0;
  std::uint64_t number = 0;  ///< in the order of adding
  Kind kind = kReady;
  std::uint32_t node = 0;
  bool operator>(const LoadEvent& other) const {
    return std::tuple(at_us, number) > std::tuple(other.at_us, other.number);
  }
};

class LoadEvents {
 public:
  void add(double at_us, LoadEvent::Kind kind, std::uint32_t node) {
    events_.push({.at_us = at_us, .number = ++added_, .kind = kind, .node = node});
  }
  /// When the next one happens; TcpLink::kNever if there is no other.
  double next() const { return events_.empty() ? TcpLink::kNever : events_.top().at_us; }
  LoadEvent take() {
    auto const event = events_.top();
    events_.pop();
    return event;
  }

 private:
  std::priority_queue<LoadEvent, std::vector<LoadEvent>, std::greater<>> events_;
  std::uint64_t added_ = 0;
};

}  // namespace reprise
