#pragma once

#include <gmock/gmock.h>

#include <map>
#include <vector>

#include "shaper/link.h"
#include "shaper/trace.h"

namespace reprise {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

inline constexpr std::uint64_t kSeed = 1;

/// A trace of these lines.
inline std::shared_ptr<const Trace> trace_of(const std::string& text) {
  auto trace = Trace::parse(text, "test");
  EXPECT_TRUE(trace) << (trace ? "" : trace.error());
  return trace ? *trace : nullptr;
}

/// A link, and what became of each packet; handles count from 0.
class LinkFixture {
 public:
  explicit LinkFixture(const LinkSettings& settings, std::uint64_t seed = kSeed)
      : link_(settings, seed, 0, nanoseconds(0)) {}

  Link& link() { return link_; }

  Admission send(std::uint32_t size_bytes, nanoseconds at) {
    return link_.enqueue({.handle = sent_++, .size_bytes = size_bytes}, at);
  }

  /// Takes what is due by `now`.
  void take(nanoseconds now) {
    auto const before = all_.size();
    link_.take_due(now, all_);
    for (std::size_t i = before; i < all_.size(); ++i) {
      EXPECT_LE(all_[i].due, now);
      EXPECT_TRUE(ends_.emplace(all_[i].handle, all_[i]).second) << "told twice";
    }
  }

  /// Follows next_event() until the link is empty.
  void drain() {
    nanoseconds last{0};
    while (auto const next = link_.next_event()) {
      last = std::max(last, *next);
      take(last);
    }
  }

  /// When the packet arrived at the other end; -1 when it did not.
  nanoseconds due(std::uint64_t handle) const {
    auto const end = ends_.find(handle);
    bool const arrived = end != ends_.end() && end->second.outcome == PacketFate::delivered;
    return arrived ? end->second.due : nanoseconds(-1);
  }

  /// In the order in which they were told.
  const std::vector<Departure>& all() const { return all_; }
  std::uint64_t sent() const { return sent_; }

 private:
  Link link_;
  std::uint64_t sent_ = 0;
  std::vector<Departure> all_;
  std::map<std::uint64_t, Departure> ends_;
};

}  // namespace reprise
