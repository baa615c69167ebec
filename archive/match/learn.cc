#include "archive/match/learn.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <unordered_map>

namespace reprise {
namespace {

constexpr std::uint32_t kSelectingRatio = 4;

const LearntName* find(std::span<const LearntName> learnt, Feature feature) {
  auto const found = std::ranges::lower_bound(learnt, name_of(feature) << 8);
  return found != learnt.end() && *found >> 8 == name_of(feature) ? &*found : nullptr;
}

/// Pairs of exchanges with different values of one name.
struct Evidence {
  std::uint32_t agreeing = 0;   ///< with equal responses
  std::uint32_t differing = 0;  ///< with different responses

  Relevance relevance(bool may_select) const {
    if (agreeing > 0 && differing <= agreeing) return Relevance::kVolatile;
    if (may_select && differing > kSelectingRatio * agreeing) return Relevance::kSelecting;
    return Relevance::kOrdinary;
  }
};

/// Calls `differs(name, drawn)` for each name that both have once, with different values; `drawn`:
/// both values look generated for a single request.
template <class Differs>
void compare(std::span<const Feature> a, std::span<const Feature> b, Differs&& differs) {
  std::size_t i = 0;
  std::size_t k = 0;
  auto const is_repeated = [](std::span<const Feature> side, std::size_t at) {
    auto const name = name_of(side[at]);
    return (at > 0 && name_of(side[at - 1]) == name) ||
           (at + 1 < side.size() && name_of(side[at + 1]) == name);
  };
  while (i < a.size() && k < b.size()) {
    auto const left = name_of(a[i]);
    auto const right = name_of(b[k]);
    if (left == right && identity_of(a[i]) != identity_of(b[k]) && !is_repeated(a, i) &&
        !is_repeated(b, k)) {
      differs(left, shape_of(a[i]) != Shape::kPlain && shape_of(b[k]) != Shape::kPlain);
    }
    if (left <= right) ++i;
    if (right <= left) ++k;
  }
}

/// Sets, for each selecting name, its number of observed values.
void note_variety(std::span<const Observation> observed, std::span<LearntName> learnt) {
  std::vector<std::uint64_t> values;
  for (const Observation& each : observed) {
    for (auto const feature : each.features) {
      auto const* const known = find(learnt, feature);
      if (known != nullptr && relevance_of(*known) == Relevance::kSelecting) {
        values.push_back(identity_of(feature));
      }
    }
  }
  std::ranges::sort(values);
  auto const repeated = std::ranges::unique(values);
  values.erase(repeated.begin(), repeated.end());
  // Sorted by name, like the names.
  auto next = values.begin();
  for (auto& name : learnt) {
    auto const is_before = [&](std::uint64_t value) { return name_of(value << 8) <= name >> 8; };
    auto const end = std::partition_point(next, values.end(), is_before);
    auto const bits = std::bit_width(static_cast<std::size_t>(end - next));
    next = end;
    if (relevance_of(name) != Relevance::kSelecting) continue;
    name |= std::min(static_cast<unsigned>(bits), 15U) << 4;
  }
}

}  // namespace

std::vector<LearntName> learn(std::span<const Observation> family,
                              std::span<const std::uint32_t> counters) {
  auto const observed = family.first(std::min(family.size(), kLearntFromMax));
  std::unordered_map<std::uint32_t, Evidence> evidence;
  for (std::size_t i = 1; i < observed.size(); ++i) {
    if (observed[i - 1].response == observed[i].response) continue;
    compare(observed[i - 1].features, observed[i].features, [&](std::uint32_t name, bool drawn) {
      if (!drawn) ++evidence[name].differing;
    });
  }
  std::vector<std::uint32_t> by_response(observed.size());
  std::iota(by_response.begin(), by_response.end(), 0U);
  std::ranges::sort(by_response, {},
                    [&](std::uint32_t at) { return std::pair(observed[at].response, at); });
  for (std::size_t i = 1; i < by_response.size(); ++i) {
    auto const& before = observed[by_response[i - 1]];
    auto const& after = observed[by_response[i]];
    if (before.response != after.response) continue;
    compare(before.features, after.features,
            [&](std::uint32_t name, bool) { ++evidence[name].agreeing; });
  }

  std::vector<LearntName> learnt;
  for (auto const& [name, pairs] : evidence) {
    bool const may_select = !is_opaque(name) && !std::ranges::binary_search(counters, name);
    auto const relevance = pairs.relevance(may_select);
    if (relevance != Relevance::kOrdinary) learnt.push_back(learnt_name(name, relevance, 0));
  }
  std::ranges::sort(learnt);
  note_variety(observed, learnt);
  return learnt;
}

void mark(std::span<const LearntName> learnt, std::span<Feature> features) {
  if (learnt.empty()) return;
  for (auto& feature : features) {
    auto const* const known = find(learnt, feature);
    feature = known != nullptr ? with_relevance(feature, relevance_of(*known), variety_of(*known))
                               : with_relevance(feature, Relevance::kOrdinary, 0);
  }
}

}  // namespace reprise
