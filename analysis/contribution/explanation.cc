#include "analysis/contribution/explanation.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <map>
#include <numeric>
#include <tuple>

#include "analysis/contribution/call_subject.h"
#include "analysis/contribution/chain.h"
#include "analysis/contribution/share.h"
#include "base/http/headers.h"
#include "base/http/url_parts.h"

namespace reprise {
namespace {

constexpr std::string_view kGapName = "nothing in flight";

using Places = std::vector<std::size_t>;

/// "2026-11-22", in UTC; empty if the start of the view is unknown.
std::string day_of(const CallTree& tree) {
  if (!tree.started_unix_ms || std::abs(*tree.started_unix_ms) > 1e14) return {};
  auto const seconds = static_cast<std::time_t>(std::floor(*tree.started_unix_ms / 1000));
  std::tm parts{};
  char text[32];
  if (::gmtime_r(&seconds, &parts) == nullptr) return {};
  return {text, std::strftime(text, sizeof text, "%Y-%m-%d", &parts)};
}

class Explainer {
 public:
  Explainer(const std::vector<GivenView>& views, const KindRules& rules, const Entities& entities,
            const ExplainOptions& options)
      : rules_(rules), entities_(entities), options_(options) {
    for (GivenView const& view : views) {
      auto shares = share_evenly(view.tree);
      auto chain = share_chain(view.tree);
      views_.push_back({.given = &view,
                        .kinds = rules.classify(view.tree, entities),
                        .own_us = std::move(shares.calls),
                        .chain_us = std::move(chain.calls),
                        .gap_us = shares.gap_us,
                        .chain_gap_us = chain.gap_us,
                        .slices = {}});
    }
  }

  Explanation run() && {
    Explanation explanation;
    Places all(views_.size());
    std::iota(all.begin(), all.end(), 0u);
    if (options_.trend) add_trend(all, explanation);
    add_slice({}, slowest_of(all), explanation);
    if (!options_.by.empty()) add_slices(all, explanation);
    CallTree losses;
    for (ExplainedView const& view : views_) {
      for (CallLoss const& loss : view.given->tree.losses) losses.lose(loss.what, loss.count);
    }
    std::ranges::move(losses.losses, std::back_inserter(explanation.losses));
    std::erase_if(all, [this](std::size_t i) { return views_[i].slices.empty(); });
    sort_by_load_time(all);
    for (auto const place : evenly(all)) {
      explanation.points.push_back(std::move(views_[place]));
    }
    return explanation;
  }

 private:
  std::int64_t window(std::size_t place) const { return views_[place].given->tree.window_us; }

  /// The slowest first.
  void sort_by_load_time(Places& places) const {
    std::ranges::sort(places, {}, [this](std::size_t i) {
      return std::pair(-views_[i].given->load_us.value_or(window(i)), i);
    });
  }

  Places slowest_of(Places places) const {
    sort_by_load_time(places);
    auto const wanted =
        std::ceil(static_cast<double>(places.size()) * options_.slowest_percent / 100 - 1e-9);
    places.resize(std::min(places.size(), static_cast<std::size_t>(std::max(wanted, 0.0))));
    return places;
  }

  /// Of places in the order of load time, at most kPointsMax.
  static Places evenly(const Places& places) {
    if (places.size() <= Explanation::kPointsMax) return places;
    Places chosen;
    for (std::size_t i = 0; i < Explanation::kPointsMax; ++i) {
      chosen.push_back(places[i * (places.size() - 1) / (Explanation::kPointsMax - 1)]);
    }
    return chosen;
  }

  void add_trend(const Places& all, Explanation& explanation) const {
    std::map<std::string, Places> days;
    for (auto const place : all) {
      auto const day = day_of(views_[place].given->tree);
      if (!day.empty()) days[day].push_back(place);
    }
    for (auto const& [day, places] : days) {
      explanation.trend.push_back(slice_of({{"day", day}}, slowest_of(places)));
    }
  }

  void add_slice(std::vector<Attribute> tags, const Places& slowest, Explanation& explanation) {
    for (auto const place : slowest) views_[place].slices.push_back(explanation.slices.size());
    explanation.slices.push_back(slice_of(std::move(tags), slowest));
  }

  void add_slices(const Places& all, Explanation& explanation) {
    std::map<std::vector<std::string>, Places> groups;
    for (auto const place : all) {
      CallTree const& tree = views_[place].given->tree;
      std::vector<std::string> values;
      for (std::string const& name : options_.by) {
        values.emplace_back(name == "page" ? tree.page : tree.tag(name));
      }
      groups[std::move(values)].push_back(place);
    }
    using Group = decltype(groups)::const_iterator;
    std::vector<Group> order;
    for (auto group = groups.begin(); group != groups.end(); ++group) order.push_back(group);
    std::ranges::sort(order, {}, [](Group group) {
      return std::tuple(-static_cast<std::int64_t>(group->second.size()), group->first);
    });
    for (Group const group : order) {
      if (explanation.slices.size() > Explanation::kSlicesMax) {
        explanation.losses.push_back({.what = "slices beyond the first 1000, not shown",
                                      .count = order.size() - Explanation::kSlicesMax});
        return;
      }
      std::vector<Attribute> tags;
      for (std::size_t i = 0; i < options_.by.size(); ++i) {
        tags.emplace_back(options_.by[i], group->first[i]);
      }
      add_slice(std::move(tags), slowest_of(group->second), explanation);
    }
  }

  struct CallSum {
    CallShare call;
    const Call* counted = nullptr;  ///< the last one: a request with several phases counts once
  };
  /// Sums over the views of a slice.
  struct Sums {
    std::vector<MeanShare> kinds;
    std::map<std::pair<std::uint8_t, std::string>, CallSum> calls;
  };

  void add(const ExplainedView& view, Sums& sums) const {
    CallTree const& tree = view.given->tree;
    auto const add_to = [](MeanShare& share, std::int64_t own, std::int64_t chain) {
      share.us += static_cast<double>(own);
      share.chain_us += static_cast<double>(chain);
    };
    for (std::size_t i = 0; i < tree.calls.size(); ++i) {
      auto const own = view.own_us[i];
      auto const chain = view.chain_us[i];
      auto const kind = view.kinds[i];
      if (own == 0 && chain == 0) continue;
      add_to(sums.kinds[kind], own, chain);
      auto const found = sums.calls.try_emplace({kind, call_key(tree, i)});
      auto& [call, counted] = found.first->second;
      if (found.second) call.detail = detail_of(tree, i);
      add_to(call.share, own, chain);
      call.longest_us = std::max(call.longest_us, tree.calls[i].end_us - tree.calls[i].start_us);
      bool const is_part = tree.calls[i].kind == CallKind::kPhase;
      auto const* const whole =
          &tree.calls[is_part && tree.calls[i].parent != kNoParent ? tree.calls[i].parent : i];
      if (counted != whole) {
        ++call.count;
        if (whole->kind == CallKind::kRequest) call.bytes += wire_bytes(*whole);
      }
      counted = whole;
    }
    auto const gap = rules_.gap_kind();
    add_to(sums.kinds[gap], view.gap_us, view.chain_gap_us);
    CallShare& nothing = sums.calls[{gap, std::string(kGapName)}].call;
    add_to(nothing.share, view.gap_us, view.chain_gap_us);
    ++nothing.count;
    nothing.longest_us = std::max(nothing.longest_us, view.gap_us);
  }

  /// The entity of the host of a request, or of a script.
  std::string detail_of(const CallTree& tree, std::size_t call) const {
    std::string_view url = tree.calls[call].attribute("url");
    for (auto at = call; url.empty(); at = tree.calls[at].parent) {
      if (tree.calls[at].kind == CallKind::kRequest) url = tree.calls[at].name;
      if (tree.calls[at].parent == kNoParent) break;
    }
    auto const* const entity = entities_.find(lower_case(url_parts(url).host));
    return entity == nullptr ? "" : entity->name;
  }

  Slice slice_of(std::vector<Attribute> tags, const Places& slowest) const {
    Slice slice{.tags = std::move(tags), .views = slowest.size()};
    Sums sums;
    sums.kinds.resize(rules_.kinds().size());
    for (std::size_t kind = 0; kind < sums.kinds.size(); ++kind) {
      sums.kinds[kind].kind = static_cast<std::uint8_t>(kind);
    }
    CostSums costs(entities_);
    std::vector<std::int64_t> windows;
    for (auto const place : slowest) {
      windows.push_back(window(place));
      slice.mean_us += static_cast<double>(window(place));
      add(views_[place], sums);
      costs.add(views_[place].given->tree, views_[place].own_us);
    }
    if (slowest.empty()) return slice;
    slice.costs = costs.means(slowest.size());
    auto const count = static_cast<double>(slowest.size());
    auto const mean = [count](MeanShare& share) {
      share.us /= count;
      share.chain_us /= count;
    };
    slice.mean_us /= count;
    std::ranges::sort(windows);
    auto const nearest = [&](double quantile) {
      auto const rank = std::ceil(quantile * count);
      return windows[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
    };
    slice.median_us = nearest(.5);
    slice.p90_us = nearest(.9);
    slice.min_us = windows.front();
    slice.max_us = windows.back();
    for (MeanShare& share : sums.kinds) {
      mean(share);
      if (share.us > 0 || share.chain_us > 0) slice.shares.push_back(share);
    }
    std::ranges::sort(slice.shares, {},
                      [](const MeanShare& share) { return std::pair(-share.us, share.kind); });
    for (auto& [key, sum] : sums.calls) {
      CallShare& call = sum.call;
      mean(call.share);
      call.share.kind = key.first;
      call.name = key.second;
      call.bytes /= static_cast<double>(call.count);
      slice.calls.push_back(std::move(call));
    }
    std::ranges::sort(slice.calls, {}, [](const CallShare& call) {
      return std::tuple(-call.share.us, call.share.kind, call.name);
    });
    slice.calls.resize(std::min(slice.calls.size(), Explanation::kCallsMax));
    return slice;
  }

  const KindRules& rules_;
  const Entities& entities_;
  const ExplainOptions& options_;
  std::vector<ExplainedView> views_;
};

}  // namespace

std::string call_key(const CallTree& tree, std::size_t call) {
  Call const& self = tree.calls[call];
  switch (self.kind) {
    case CallKind::kRequest:
      return std::string(without_query(self.name));
    case CallKind::kPhase:
      return self.parent == kNoParent ? self.name : call_key(tree, self.parent);
    case CallKind::kSpan: {
      auto const service = self.attribute("service");
      return service.empty() ? self.name : std::string(service) + ": " + self.name;
    }
    case CallKind::kTask: {
      auto const url = self.attribute("url");
      if (url.empty()) return self.name;
      auto const function = self.attribute("function");
      return self.name + (function.empty() ? "" : " " + std::string(function)) + " in " +
             std::string(without_query(url));
    }
    case CallKind::kMeasure:
      break;
  }
  return self.name;
}

Explanation explain(const std::vector<GivenView>& views, const KindRules& rules,
                    const Entities& entities, const ExplainOptions& options) {
  return Explainer(views, rules, entities, options).run();
}

}  // namespace reprise
