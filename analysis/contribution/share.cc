#include "analysis/contribution/share.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>

namespace reprise {
namespace {

/// A call begins or ends to be active.
struct Edge {
  std::int64_t at_us = 0;
  std::uint32_t call = 0;
  bool start = false;
};

/// Passes over the edges in the order of time. Of each layer it keeps `earned`, the integral over
/// time of 1 / (number of counted calls) in units of 2^-kShareBits us: a call's share is what its
/// layer earned while the call counted.
class Sweep {
 public:
  explicit Sweep(const CallTree& tree)
      : tree_(tree), states_(tree.calls.size()), shares_(tree.calls.size(), 0) {
    for (std::uint32_t i = 0; i < tree.calls.size(); ++i) {
      Call const& call = tree.calls[i];
      states_[i].layer =
          call.parent == kNoParent ? layer_of(call.kind) : states_[call.parent].layer;
      auto const end = std::min(call.end_us, tree.window_us);
      if (call.start_us >= end) continue;
      edges_.push_back({.at_us = call.start_us, .call = i, .start = true});
      edges_.push_back({.at_us = end, .call = i, .start = false});
    }
    std::ranges::sort(edges_, {}, &Edge::at_us);
  }

  Shares run() {
    for (Edge const& edge : edges_) {
      pass(edge.at_us);
      become(edge.call, edge.start);
    }
    pass(tree_.window_us);
    return rounded();
  }

 private:
  struct State {
    CallLayer layer{};
    bool active = false;
    std::uint32_t inside = 0;        ///< the calls directly inside it that are alive
    std::int64_t earned_before = 0;  ///< by the layer, when this call began to count

    /// Active, or a call somewhere inside it is.
    bool alive() const { return active || inside > 0; }
    bool counts() const { return active && inside == 0; }
  };
  struct Layer {
    std::int64_t earned = 0;
    std::int64_t counted = 0;
  };

  Layer& layer(std::uint32_t call) {
    return layers_[static_cast<std::size_t>(states_[call].layer)];
  }

  void pass(std::int64_t to_us) {
    auto const length = to_us - now_us_;
    now_us_ = to_us;
    for (Layer& each : layers_) {
      if (each.counted == 0) continue;
      each.earned += (length << kShareBits) / each.counted;
      return;
    }
    gap_us_ += length;
  }

  void start_counting(std::uint32_t call) {
    states_[call].earned_before = layer(call).earned;
    ++layer(call).counted;
  }
  void stop_counting(std::uint32_t call) {
    shares_[call] += layer(call).earned - states_[call].earned_before;
    --layer(call).counted;
  }

  /// Changes the state of `call`, and of the calls around it as far as it changes theirs.
  void become(std::uint32_t call, bool active) {
    auto const change = [this](std::uint32_t changed, auto const& step) {
      State& state = states_[changed];
      bool const counted = state.counts();
      bool const alive = state.alive();
      step(state);
      if (counted && !state.counts()) stop_counting(changed);
      if (!counted && state.counts()) start_counting(changed);
      return alive != state.alive();
    };
    bool outwards = change(call, [active](State& state) { state.active = active; });
    while (outwards && tree_.calls[call].parent != kNoParent) {
      call = tree_.calls[call].parent;
      outwards = change(call, [active](State& state) { state.inside += active ? 1 : -1u; });
    }
  }

  Shares rounded() const {
    // In an order that renaming and reordering the calls do not change.
    std::vector<std::uint32_t> order(tree_.calls.size());
    std::iota(order.begin(), order.end(), 0u);
    std::ranges::sort(order, {}, [this](std::uint32_t i) {
      return std::tuple(tree_.calls[i].start_us, tree_.calls[i].end_us, i);
    });
    std::vector<std::int64_t> ordered;
    ordered.reserve(order.size());
    for (auto const call : order) ordered.push_back(shares_[call]);
    auto const whole = round_shares(ordered, tree_.window_us - gap_us_);
    Shares shares{.calls = std::vector<std::int64_t>(order.size()), .gap_us = gap_us_};
    for (std::size_t i = 0; i < order.size(); ++i) shares.calls[order[i]] = whole[i];
    return shares;
  }

  const CallTree& tree_;
  std::vector<Edge> edges_;
  std::vector<State> states_;
  std::vector<std::int64_t> shares_;
  std::array<Layer, kCallLayers> layers_;
  std::int64_t now_us_ = 0;
  std::int64_t gap_us_ = 0;
};

}  // namespace

std::vector<std::int64_t> round_shares(std::span<const std::int64_t> shares,
                                       std::int64_t total_us) {
  std::vector<std::int64_t> whole(shares.size());
  auto left = total_us;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    whole[i] = shares[i] >> kShareBits;
    left -= whole[i];
  }
  if (left <= 0) return whole;
  std::vector<std::uint32_t> order(shares.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::sort(order, {}, [shares](std::uint32_t i) {
    auto const remainder = shares[i] & ((std::int64_t{1} << kShareBits) - 1);
    return std::pair(-remainder, i);
  });
  for (std::size_t i = 0; left > 0 && !order.empty(); ++i, --left) ++whole[order[i % order.size()]];
  return whole;
}

Shares share_evenly(const CallTree& tree) {
  return Sweep(tree).run();
}

}  // namespace reprise
