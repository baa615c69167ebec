#include "analysis/partials/flat_share.h"

#include <algorithm>
#include <functional>
#include <tuple>

#include "analysis/contribution/share.h"

namespace reprise {
namespace {

constexpr int kPlaceBits = 20;
constexpr std::uint64_t kPlaceMask = (std::uint64_t{1} << kPlaceBits) - 1;
static_assert(FlatShares::kCallsMax == kPlaceMask + 1);
static_assert(CallTree::kWindowUsMax < std::int64_t{1} << (63 - kPlaceBits));

constexpr std::uint32_t kFraction = (1u << kShareBits) - 1;

std::int64_t cut(std::int64_t time) {
  return std::clamp<std::int64_t>(time, 0, CallTree::kWindowUsMax);
}

/// By insertion, which is fastest for what is nearly sorted, unless that takes too many moves.
void sort_nearly_sorted(std::vector<std::uint64_t>& values) {
  auto moves_left = 16 * values.size();
  for (std::size_t i = 1; i < values.size(); ++i) {
    auto const value = values[i];
    auto at = i;
    for (; at > 0 && values[at - 1] > value; --at) values[at] = values[at - 1];
    values[at] = value;
    if (i - at > moves_left) {
      std::ranges::sort(values);
      return;
    }
    moves_left -= i - at;
  }
}

}  // namespace

void FlatShares::sort_edges(std::span<const FlatCall> calls, std::int64_t window_us) {
  starts_.clear();
  ends_.clear();
  for (std::size_t i = 0; i < calls.size(); ++i) {
    auto const start = cut(calls[i].start_us);
    auto const end = std::min(cut(calls[i].end_us), window_us);
    if (start >= end) continue;
    starts_.push_back(static_cast<std::uint64_t>(start) << kPlaceBits | i);
    ends_.push_back(static_cast<std::uint64_t>(end) << kPlaceBits | i);
  }
  sort_nearly_sorted(starts_);
  sort_nearly_sorted(ends_);
}

std::int64_t FlatShares::sweep(std::span<const FlatCall> calls, std::int64_t window_us) {
  struct Layer {
    std::int64_t earned = 0;
    std::int64_t active = 0;
  };
  std::array<Layer, kCallLayers> layers;
  std::int64_t now = 0;
  std::int64_t gap = 0;
  auto const pass = [&](std::int64_t to) {
    auto const length = to - now;
    if (length == 0) return;
    now = to;
    for (Layer& layer : layers) {
      if (layer.active == 0) continue;
      layer.earned +=
          layer.active == 1 ? length << kShareBits : (length << kShareBits) / layer.active;
      return;
    }
    gap += length;
  };
  std::size_t next = 0;
  for (auto const end : ends_) {
    for (; next < starts_.size() && (starts_[next] >> kPlaceBits) <= (end >> kPlaceBits); ++next) {
      pass(static_cast<std::int64_t>(starts_[next] >> kPlaceBits));
      auto const call = starts_[next] & kPlaceMask;
      Layer& layer = layers[static_cast<std::size_t>(calls[call].layer)];
      ++layer.active;
      earned_[call] = layer.earned;
    }
    pass(static_cast<std::int64_t>(end >> kPlaceBits));
    auto const call = end & kPlaceMask;
    Layer& layer = layers[static_cast<std::size_t>(calls[call].layer)];
    --layer.active;
    earned_[call] = layer.earned - earned_[call];
  }
  pass(window_us);
  return gap;
}

/// Gives the `left` us that rounding down took to the largest remainders; of equal ones to those
/// that come first by start, end and place.
void FlatShares::round_up(std::span<const FlatCall> calls, std::int64_t left,
                          std::span<std::int64_t> by_kind) {
  remainders_.clear();
  for (auto const start : starts_) {
    remainders_.push_back(static_cast<std::uint32_t>(earned_[start & kPlaceMask]) & kFraction);
  }
  auto const most = std::min(static_cast<std::size_t>(left), remainders_.size());
  if (most == 0) return;
  auto const last = remainders_.begin() + static_cast<std::ptrdiff_t>(most - 1);
  std::ranges::nth_element(remainders_, last, std::greater());
  auto const least = *last;
  auto remaining = most;
  tied_.clear();
  for (auto const start : starts_) {
    auto const call = static_cast<std::uint32_t>(start & kPlaceMask);
    auto const remainder = static_cast<std::uint32_t>(earned_[call]) & kFraction;
    if (remainder == least) tied_.push_back(call);
    if (remainder <= least) continue;
    ++by_kind[calls[call].kind];
    --remaining;
  }
  if (remaining < tied_.size()) {
    std::ranges::sort(tied_, {}, [&](std::uint32_t i) {
      return std::tuple(cut(calls[i].start_us), cut(calls[i].end_us), i);
    });
  }
  for (auto const call : std::span(tied_).first(remaining)) ++by_kind[calls[call].kind];
}

std::int64_t FlatShares::share(std::span<const FlatCall> calls, std::int64_t window_us,
                               std::span<std::int64_t> by_kind) {
  sort_edges(calls, window_us);
  earned_.resize(calls.size());
  auto const gap = sweep(calls, window_us);
  auto left = window_us - gap;
  for (auto const start : starts_) {
    auto const call = start & kPlaceMask;
    auto const whole = earned_[call] >> kShareBits;
    by_kind[calls[call].kind] += whole;
    left -= whole;
  }
  round_up(calls, left, by_kind);
  return gap;
}

}  // namespace reprise
