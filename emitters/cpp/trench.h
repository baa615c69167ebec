#pragma once

// Traces what a server does for one request: a tree of code points with their calls and times
// (analysis/trench/TRENCH.md). To be copied into servers: header only, C++20, needs nothing.
//
//   trench::Trace trace;              // one request's
//   trench::At at(trace);             // this thread works for it, until the end of the block
//   TRENCH_SCOPE("shop.Cart", "show");
//   auto tax = trench::trace("shop.Cart.tax", [&] { return tax_of(cart); });
//
// In coroutines: trench_carry.h. What a response gets: trench_fields.h.
//
// A thread that works for no trace pays a branch per scope. Trace may be used by several threads at
// once; scopes belong to the thread, or coroutine, that opened them.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <map>
#include <mutex>
#include <source_location>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace trench {

/// A place in the code. The texts must outlive every trace.
struct Point {
  std::string_view class_name;
  std::string_view method;
  std::int64_t line = -1;  ///< -1 if unknown
};

/// "shop.Cart.tax" is the method tax of the class shop.Cart.
inline Point point_of(std::string_view name, std::int64_t line) {
  auto const dot = name.rfind('.');
  if (dot == std::string_view::npos) return {{}, name, line};
  return {name.substr(0, dot), name.substr(dot + 1), line};
}

inline std::int64_t steady_ns() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

/// What one request did. Calls beyond a limit count as their caller's own time.
class Trace {
 public:
  static constexpr std::size_t kNodesMax = 50'000;
  static constexpr std::uint32_t kDepthMax = 400;
  static constexpr std::size_t kNameBytesMax = 200;  ///< of a class or a method
  static constexpr std::size_t kPointBytesMax = std::size_t{2} << 20;
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  using Clock = std::int64_t (*)();  ///< ns that never go back

  /// All calls of one point by one caller.
  struct Node {
    std::uint32_t point = 0;
    std::uint32_t caller = kNone;
    std::uint32_t depth = 0;
    std::uint64_t hits = 0;
    std::int64_t ns = 0;  ///< of calls that have ended, less the starts of those that have not
    std::int64_t running = 0;
    std::vector<std::uint32_t> called = {};
  };
  struct NamedPoint {
    std::string class_name, method;
    std::int64_t line;
  };
  struct Content {
    std::vector<NamedPoint> points;
    std::vector<Node> nodes;
  };

  explicit Trace(Clock clock = &steady_ns) : clock_(clock), begun_ns_(clock()) {}
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  /// A call of `point` begins. Returns its node, or kNone if there is no room for it.
  std::uint32_t enter(std::uint32_t caller, const Point& point) {
    std::lock_guard const lock(mutex_);
    auto const node = node_of(caller, point);
    if (node == kNone) return kNone;
    ++content_.nodes[node].hits;
    ++content_.nodes[node].running;
    content_.nodes[node].ns -= clock_() - begun_ns_;
    return node;
  }
  /// It ends.
  void leave(std::uint32_t node) {
    std::lock_guard const lock(mutex_);
    --content_.nodes[node].running;
    content_.nodes[node].ns += clock_() - begun_ns_;
  }

  /// A coroutine that works for this trace is suspended.
  void suspended() { ++suspensions_; }
  std::uint64_t suspensions() const { return suspensions_; }

  /// All that happened up to now. Calls that have not ended count as if they ended now.
  Content content() const {
    std::lock_guard const lock(mutex_);
    auto content = content_;
    auto const now = clock_() - begun_ns_;
    for (auto& node : content.nodes) node.ns += node.running * now;
    return content;
  }

 private:
  std::uint32_t node_of(std::uint32_t caller, const Point& point) {
    auto const place = point_place(point);
    if (place == kNone) return kNone;
    auto const key = std::uint64_t{caller} << 32 | place;
    if (auto const known = node_places_.find(key); known != node_places_.end()) {
      return known->second;
    }
    auto& nodes = content_.nodes;
    auto const depth = caller == kNone ? 1 : nodes[caller].depth + 1;
    if (nodes.size() == kNodesMax || depth > kDepthMax) return kNone;
    auto const node = static_cast<std::uint32_t>(nodes.size());
    nodes.push_back({.point = place, .caller = caller, .depth = depth});
    if (caller != kNone) nodes[caller].called.push_back(node);
    node_places_.emplace(key, node);
    return node;
  }

  std::uint32_t point_place(const Point& point) {
    auto const cut = [](std::string_view name) { return name.substr(0, kNameBytesMax); };
    auto const key = std::tuple(cut(point.class_name), cut(point.method), point.line);
    if (auto const known = point_places_.find(key); known != point_places_.end()) {
      return known->second;
    }
    auto const& [class_name, method, line] = key;
    auto const bytes = class_name.size() + method.size() + sizeof(NamedPoint);
    if (bytes > kPointBytesMax - point_bytes_) return kNone;
    point_bytes_ += bytes;
    auto const place = static_cast<std::uint32_t>(content_.points.size());
    content_.points.push_back({std::string(class_name), std::string(method), line});
    point_places_.emplace(std::tuple(std::string(class_name), std::string(method), line), place);
    return place;
  }

  Clock clock_;
  std::int64_t begun_ns_;
  mutable std::mutex mutex_;
  Content content_;
  std::size_t point_bytes_ = 0;
  std::atomic<std::uint64_t> suspensions_ = 0;
  std::map<std::tuple<std::string, std::string, std::int64_t>, std::uint32_t, std::less<>>
      point_places_;
  std::unordered_map<std::uint64_t, std::uint32_t> node_places_;  ///< by caller and point
};

/// Where calls are counted: inside a node of a trace.
struct Place {
  Trace* trace = nullptr;
  std::uint32_t node = Trace::kNone;
};

/// This thread's. Without a trace, nothing is counted.
inline constinit thread_local Place current{};

/// From here to the end of the block, calls of this thread, or of the coroutine that holds this,
/// are counted at `place`. The trace must outlive it.
class At {
 public:
  explicit At(const Place& place)
      : trace_(place.trace),
        suspensions_(trace_ == nullptr ? 0 : trace_->suspensions()),
        before_(std::exchange(current, place)) {}
  explicit At(Trace& trace) : At(Place{.trace = &trace}) {}
  ~At() {
    // After a suspension this may be another thread, or the same one in other work.
    bool const is_same_run = trace_ == nullptr || suspensions_ == trace_->suspensions();
    current = is_same_run ? before_ : Place{};
  }
  At(const At&) = delete;
  At& operator=(const At&) = delete;

 private:
  Trace* trace_;
  std::uint64_t suspensions_;
  Place before_;
};

/// One call, from here to the end of the block.
class Scope {
 public:
  explicit Scope(const Point& point) {
    if (current.trace != nullptr) [[unlikely]]
      enter(point);
  }
  ~Scope() {
    if (caller_.trace != nullptr) [[unlikely]]
      leave();
  }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  void enter(const Point& point) {
    caller_ = current;
    node_ = caller_.trace->enter(caller_.node, point);
    if (node_ != Trace::kNone) current.node = node_;
  }
  void leave() {
    if (node_ != Trace::kNone) caller_.trace->leave(node_);
    current = caller_;
  }

  Place caller_;
  std::uint32_t node_ = Trace::kNone;
};

/// Calls `callable` as the code point `name` ("shop.Cart.tax") and returns its result. In a
/// coroutine, what has to be awaited is timed by TRENCH_SCOPE: this would only time its creation.
template <class Callable>
decltype(auto) trace(std::string_view name, Callable&& callable,
                     std::source_location at = std::source_location::current()) {
  if (current.trace == nullptr) [[likely]]
    return std::forward<Callable>(callable)();
  Scope const scope(point_of(name, at.line()));
  return std::forward<Callable>(callable)();
}

}  // namespace trench

#define TRENCH_JOIN_(a, b) a##b
#define TRENCH_JOIN(a, b) TRENCH_JOIN_(a, b)
/// From here to the end of the block is a call of this method. Both are string literals.
#define TRENCH_SCOPE(class_name, method)                                                    \
  static constexpr ::trench::Point TRENCH_JOIN(trench_point_, __LINE__){class_name, method, \
                                                                        __LINE__};          \
  ::trench::Scope const TRENCH_JOIN(trench_scope_, __LINE__)(TRENCH_JOIN(trench_point_, __LINE__))
