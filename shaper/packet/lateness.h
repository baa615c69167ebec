#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstdint>

namespace reprise {

/// Later than this at p99, a link is not what it says.
inline constexpr std::chrono::milliseconds kLatenessMax{1};

/// For texts and reports.
inline double to_ms(std::chrono::nanoseconds time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

/// How late packets were written: counts by powers of two, each in 16 steps, so that a quantile is
/// off by 6 % at most. One thread adds, any may look.
class LatenessHistogram {
 public:
  void add(std::chrono::nanoseconds late, std::uint64_t packets) {
    auto const ns = static_cast<std::uint64_t>(late.count() < 0 ? 0 : late.count());
    auto& count = counts_[bucket_of(ns)];
    // One writer: no need for a locked instruction.
    count.store(count.load(std::memory_order_relaxed) + packets, std::memory_order_relaxed);
    if (ns > max_.load(std::memory_order_relaxed)) max_.store(ns, std::memory_order_relaxed);
  }

  struct Summary {
    std::uint64_t packets = 0;
    std::chrono::nanoseconds p50{0};
    std::chrono::nanoseconds p99{0};
    std::chrono::nanoseconds max{0};
  };
  Summary summary() const {
    Summary summary;
    for (auto const& count : counts_) summary.packets += count.load(std::memory_order_relaxed);
    summary.max = std::chrono::nanoseconds(max_.load(std::memory_order_relaxed));
    summary.p50 = std::min(summary.max, quantile(summary.packets, 50));
    summary.p99 = std::min(summary.max, quantile(summary.packets, 99));
    return summary;
  }

 private:
  static constexpr std::size_t kSteps = 16;
  static constexpr std::size_t kBuckets = 61 * kSteps;

  static std::size_t bucket_of(std::uint64_t ns) {
    if (ns < kSteps) return ns;
    auto const exponent = static_cast<std::size_t>(std::bit_width(ns)) - 5;
    return (exponent + 1) * kSteps + ((ns >> exponent) & (kSteps - 1));
  }
  /// The largest that falls into `bucket`.
  static std::uint64_t top_of(std::size_t bucket) {
    if (bucket < kSteps) return bucket;
    auto const exponent = bucket / kSteps - 1;
    return ((std::uint64_t{kSteps + bucket % kSteps} + 1) << exponent) - 1;
  }
  std::chrono::nanoseconds quantile(std::uint64_t total, std::uint64_t percent) const {
    auto left = (total * percent + 99) / 100;
    for (std::size_t bucket = 0; bucket < kBuckets; ++bucket) {
      auto const count = counts_[bucket].load(std::memory_order_relaxed);
      if (count >= left) {
        return std::chrono::nanoseconds(total == 0 ? 0 : top_of(bucket));
      }
      left -= count;
    }
    return std::chrono::nanoseconds(max_.load(std::memory_order_relaxed));
  }

  std::array<std::atomic<std::uint64_t>, kBuckets> counts_{};
  std::atomic<std::uint64_t> max_{0};
};

}  // namespace reprise
