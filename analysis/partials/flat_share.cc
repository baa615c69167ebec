#include "analysis/partials/flat_share.h"

#include <algorithm>
#include <array>
#include <bit>
#include <tuple>
#include <utility>

#include "analysis/contribution/share.h"

namespace reprise {
namespace {

constexpr int kPlaceBits = 20;
constexpr std::uint64_t kPlaceMask = (std::uint64_t{1} << kPlaceBits) - 1;
static_assert(FlatShares::kCallsMax == kPlaceMask + 1);
static_assert(CallTree::kWindowUsMax < std::int64_t{1} << (63 - kPlaceBits));

constexpr std::int64_t kFraction = (std::int64_t{1} << kShareBits) - 1;

constexpr int kBucketBits = 8;
constexpr std::size_t kBuckets = std::size_t{1} << kBucketBits;
/// Of the part of a share that is not whole.
constexpr int kRemainderShift = kShareBits - kBucketBits;

/// floor(length * 2^kShareBits / count). By multiplication for the usual counts: with
/// m = floor(2^64 / count) + 1 it is exact as long as the dividend is below 2^64 / count.
class Divider {
 public:
  std::int64_t operator()(std::int64_t length, std::size_t count) const {
    auto const dividend = static_cast<std::uint64_t>(length) << kShareBits;
    if (count >= kInverses.size()) return static_cast<std::int64_t>(dividend / count);
    // The inverse of 1 has 65 bits: it is 0 here.
    return static_cast<std::int64_t>(
        static_cast<std::uint64_t>((static_cast<Wide>(dividend) * kInverses[count]) >> 64) +
        (dividend & (0 - std::uint64_t{count == 1 ? 1U : 0U})));
  }

 private:
  __extension__ using Wide = unsigned __int128;
  static constexpr auto kInverses = [] {
    std::array<std::uint64_t, 65> inverses = {};
    for (std::uint64_t i = 2; i < inverses.size(); ++i) inverses[i] = ~std::uint64_t{0} / i + 1;
    return inverses;
  }();
  static_assert(CallTree::kWindowUsMax < std::int64_t{1} << (64 - kShareBits - 7));
};

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

/// By buckets of time, then by insertion.
void sort_spread(std::vector<std::uint64_t>& values, std::vector<std::uint64_t>& spare) {
  std::uint64_t all = 0;
  for (auto const value : values) all |= value;
  auto const shift = std::max(0, static_cast<int>(std::bit_width(all)) - kBucketBits);
  std::array<std::uint32_t, kBuckets> places = {};
  for (auto const value : values) ++places[value >> shift];
  std::uint32_t place = 0;
  for (auto& each : places) place += std::exchange(each, place);
  spare.resize(values.size());
  for (auto const value : values) spare[places[value >> shift]++] = value;
  values.swap(spare);
  sort_nearly_sorted(values);
}

}  // namespace

void FlatShares::sort_edges(std::span<const FlatCall> calls, std::int64_t window_us) {
  starts_.resize(calls.size());
  ends_.resize(calls.size());
  std::size_t count = 0;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    auto const start = cut(calls[i].start_us);
    auto const end = std::min(cut(calls[i].end_us), window_us);
    starts_[count] = static_cast<std::uint64_t>(start) << kPlaceBits | i;
    ends_[count] = static_cast<std::uint64_t>(end) << kPlaceBits | i;
    count += start < end ? 1 : 0;
  }
  starts_.resize(count);
  ends_.resize(count);
  sort_nearly_sorted(starts_);
  sort_spread(ends_, spare_);
}

std::int64_t FlatShares::sweep(std::span<const FlatCall> calls, std::int64_t window_us) {
  constexpr Divider kDivide;
  struct Layer {
    std::int64_t earned = 0;  ///< of each call that was active all the time
    std::size_t active = 0;
  };
  // After the layers is the gap, of one call that is always active. No step depends on the order of
  // the edges, which no processor can guess.
  std::array<Layer, kCallLayers + 1> layers;
  layers[kCallLayers].active = 1;
  unsigned occupied = 1U << kCallLayers;
  std::int64_t now = 0;
  auto const pass = [&](std::int64_t to) {
    Layer& layer = layers[static_cast<std::size_t>(std::countr_zero(occupied))];
    layer.earned += kDivide(to - now, layer.active);
    now = to;
  };
  starts_.push_back(~std::uint64_t{0});
  std::size_t next_start = 0, next_end = 0;
  while (next_end < ends_.size()) {
    auto const start = starts_[next_start], end = ends_[next_end];
    auto const is_end = std::uint64_t{end < start ? 1U : 0U};
    auto const edge = start ^ ((start ^ end) & (0 - is_end));
    next_end += is_end;
    next_start += 1 - is_end;
    pass(static_cast<std::int64_t>(edge >> kPlaceBits));
    auto const call = edge & kPlaceMask;
    auto const place = static_cast<std::size_t>(calls[call].layer);
    Layer& layer = layers[place];
    layer.active += 1 - 2 * is_end;
    occupied = (occupied & ~(1U << place)) | (layer.active != 0 ? 1U : 0U) << place;
    earned_[call] = layer.earned - earned_[call];
  }
  starts_.pop_back();
  pass(window_us);
  return layers[kCallLayers].earned >> kShareBits;
}

/// Gives the `left` us that rounding down took to the largest remainders; of equal ones to those
/// that come first by start, end and place. `remainders` counts them by their highest bits.
void FlatShares::round_up(std::span<const FlatCall> calls, std::size_t left,
                          std::span<const std::uint32_t> remainders,
                          std::span<std::int64_t> by_kind) {
  if (left == 0) return;
  auto last = kBuckets - 1;
  for (; last > 0 && remainders[last] < left; --last) left -= remainders[last];
  // Those above `last` get one; of those in it some.
  tied_.resize(starts_.size() + 1);
  std::size_t tied = 0;
  for (auto const start : starts_) {
    auto const call = start & kPlaceMask;
    auto const bucket = static_cast<std::size_t>((earned_[call] & kFraction) >> kRemainderShift);
    by_kind[calls[call].kind] += bucket > last ? 1 : 0;
    tied_[tied] = static_cast<std::uint32_t>(call);
    tied += bucket == last ? 1 : 0;
  }
  auto const some = std::span(tied_).first(tied);
  if (left < tied) {
    std::ranges::sort(some, {}, [&](std::uint32_t i) {
      return std::tuple(-(earned_[i] & kFraction), cut(calls[i].start_us), cut(calls[i].end_us), i);
    });
  }
  for (auto const call : some.first(std::min(left, tied))) ++by_kind[calls[call].kind];
}

std::int64_t FlatShares::share(std::span<const FlatCall> calls, std::int64_t window_us,
                               std::span<std::int64_t> by_kind) {
  sort_edges(calls, window_us);
  earned_.assign(calls.size(), 0);
  auto const gap = sweep(calls, window_us);
  auto left = window_us - gap;
  std::array<std::uint32_t, kBuckets> remainders = {};
  for (auto const start : starts_) {
    auto const call = start & kPlaceMask;
    auto const whole = earned_[call] >> kShareBits;
    by_kind[calls[call].kind] += whole;
    left -= whole;
    ++remainders[static_cast<std::size_t>((earned_[call] & kFraction) >> kRemainderShift)];
  }
  round_up(calls, static_cast<std::size_t>(left), remainders, by_kind);
  return gap;
}

}  // namespace reprise
