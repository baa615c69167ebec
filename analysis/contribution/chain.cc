#include "analysis/contribution/chain.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "base/http/url_parts.h"

namespace reprise {
namespace {

/// A redirect and its target are reported at the same time, except for rounding.
constexpr std::int64_t kRedirectUs = 1000;

bool redirects(const Call& call) {
  auto const status = call.attribute("status");
  return status == "301" || status == "302" || status == "303" || status == "307" ||
         status == "308";
}

/// Scripts and style sheets hold up the document that asked for them.
bool holds_up(const Call& call) {
  auto const type = call.attribute("type");
  return type == "Script" || type == "Stylesheet";
}

/// A longer chain is no page's; the time before these goes to the main thread and to the gap.
constexpr std::size_t kLinksMax = 4096;

class ChainFinder {
 public:
  using Why = ChainLink::Why;

  explicit ChainFinder(const CallTree& tree) : tree_(tree) {
    for (std::uint32_t i = 0; i < tree.calls.size(); ++i) {
      if (tree.calls[i].kind != CallKind::kRequest) continue;
      by_end_.push_back(i);
      by_url_[tree.calls[i].name].push_back(i);
    }
    for (auto& [url, same] : by_url_) {
      std::ranges::sort(same, {}, [this](std::uint32_t i) { return sent(i); });
    }
    std::ranges::sort(by_end_, {},
                      [&tree](std::uint32_t i) { return std::pair(tree.calls[i].end_us, i); });
  }

  std::vector<ChainLink> find() const {
    std::vector<ChainLink> chain;
    auto at = ended_by(tree_.window_us, [](std::uint32_t) { return true; });
    while (at != kNoParent && chain.size() < kLinksMax) {
      auto const until =
          chain.empty() ? call(at).end_us : std::min(call(at).end_us, chain.back().from_us);
      auto const [before, why] = predecessor(at);
      chain.push_back({.call = at,
                       .why = why,
                       .from_us = std::min(call(at).start_us, until),
                       .until_us = until});
      at = before;
    }
    std::ranges::reverse(chain);
    return chain;
  }

 private:
  const Call& call(std::uint32_t i) const { return tree_.calls[i]; }

  /// The order of sending. A chain only goes back in it, so it ends.
  std::pair<std::int64_t, std::uint32_t> sent(std::uint32_t i) const {
    return {call(i).start_us, i};
  }
  bool comes_before(std::uint32_t a, std::uint32_t b) const { return sent(a) < sent(b); }

  /// The last request that ended by `time_us` and that `wanted` accepts, or kNoParent.
  template <class Wanted>
  std::uint32_t ended_by(std::int64_t time_us, const Wanted& wanted) const {
    auto const end = std::ranges::upper_bound(by_end_, time_us, {},
                                              [this](std::uint32_t i) { return call(i).end_us; });
    for (auto each = end; each != by_end_.begin();) {
      --each;
      if (wanted(*each)) return *each;
    }
    return kNoParent;
  }

  std::uint32_t initiator(std::uint32_t request) const {
    auto const url = without_fragment(call(request).attribute("initiator"));
    auto const found = url.empty() ? by_url_.end() : by_url_.find(url);
    if (found == by_url_.end()) return kNoParent;
    auto const& same = found->second;
    auto const end = std::ranges::lower_bound(same, sent(request), {},
                                              [this](std::uint32_t i) { return sent(i); });
    return end == same.begin() ? kNoParent : *(end - 1);
  }

  std::pair<std::uint32_t, Why> predecessor(std::uint32_t request) const {
    auto const start = call(request).start_us;
    auto const same_initiator = [&](std::uint32_t each) {
      return call(each).attribute("initiator") == call(request).attribute("initiator");
    };
    auto const redirect = ended_by(start + kRedirectUs, [&](std::uint32_t each) {
      return call(each).end_us < start - kRedirectUs ||
             (redirects(call(each)) && comes_before(each, request) && same_initiator(each));
    });
    if (redirect != kNoParent && call(redirect).end_us >= start - kRedirectUs) {
      return {redirect, Why::kRedirected};
    }
    auto const from = initiator(request);
    if (from != kNoParent && call(from).end_us >= start) return {from, Why::kStarted};
    if (from != kNoParent) {
      auto const held = ended_by(start, [&](std::uint32_t each) {
        return call(each).end_us <= call(from).end_us ||
               (holds_up(call(each)) && same_initiator(each) && comes_before(each, request));
      });
      bool const held_up = held != kNoParent && call(held).end_us > call(from).end_us;
      return held_up ? std::pair(held, Why::kHeldUp) : std::pair(from, Why::kStarted);
    }
    auto const ended =
        ended_by(start, [&](std::uint32_t each) { return comes_before(each, request); });
    return {ended, ended == kNoParent ? Why::kFirst : Why::kEndedBefore};
  }

  const CallTree& tree_;
  std::vector<std::uint32_t> by_end_;
  std::map<std::string_view, std::vector<std::uint32_t>> by_url_;
};

/// Gives each moment of a chain to one call.
class ChainWalk {
 public:
  explicit ChainWalk(const CallTree& tree)
      : tree_(tree), inside_(tree.calls.size()), shares_(tree.calls.size(), 0) {
    for (std::uint32_t i = 0; i < tree.calls.size(); ++i) {
      Call const& call = tree.calls[i];
      auto& siblings = call.parent != kNoParent
                           ? inside_[call.parent]
                           : outermost_[static_cast<std::size_t>(layer_of(call.kind))];
      siblings.push_back(i);
    }
    auto const by_end = [&tree](std::uint32_t i) { return std::pair(tree.calls[i].end_us, i); };
    for (auto& siblings : inside_) std::ranges::sort(siblings, {}, by_end);
    for (auto& siblings : outermost_) std::ranges::sort(siblings, {}, by_end);
  }

  ChainShares run() && {
    auto const chain = ChainFinder(tree_).find();
    // Backwards, so that each layer is passed over once.
    auto until = tree_.window_us;
    for (auto link = chain.rbegin(); link != chain.rend(); ++link) {
      gap_us_ += without_request(link->until_us, until);
      within(link->call, link->from_us, link->until_us);
      until = link->from_us;
    }
    gap_us_ +=
        chain.empty() ? through_layer(CallLayer::kNetwork, 0, until) : without_request(0, until);
    return {.calls = std::move(shares_), .gap_us = gap_us_};
  }

 private:
  using Calls = std::vector<std::uint32_t>;

  std::int64_t without_request(std::int64_t from_us, std::int64_t until_us) {
    return through_layer(CallLayer::kMainThread, from_us, until_us);
  }
  /// Returns the time that no call of this layer and of those after it has.
  std::int64_t through_layer(CallLayer layer, std::int64_t from_us, std::int64_t until_us) {
    auto const place = static_cast<std::size_t>(layer);
    if (place == kCallLayers) return until_us - from_us;
    return through(outermost_[place], from_us, until_us, [&](auto from, auto until) {
      return through_layer(static_cast<CallLayer>(place + 1), from, until);
    });
  }

  void within(std::uint32_t call, std::int64_t from_us, std::int64_t until_us) {
    shares_[call] +=
        through(inside_[call], from_us, until_us, [](auto begin, auto end) { return end - begin; });
  }

  /// Goes back from the end, at each moment through the call that ends last. What no call has goes
  /// to `left`, piece by piece; the sum of its results is returned. Calls that start after the end
  /// are removed: nobody asks for them again.
  template <class Left>
  std::int64_t through(Calls& calls, std::int64_t from_us, std::int64_t until_us,
                       const Left& left) {
    std::int64_t sum = 0;
    while (!calls.empty() && until_us > from_us) {
      auto const last = calls.back();
      Call const& call = tree_.calls[last];
      auto const end = std::min(call.end_us, until_us);
      if (call.start_us >= until_us || call.start_us == end) {
        calls.pop_back();
        continue;
      }
      if (end <= from_us) break;
      if (end < until_us) sum += left(end, until_us);
      until_us = std::max(call.start_us, from_us);
      within(last, until_us, end);
    }
    if (until_us > from_us) sum += left(from_us, until_us);
    return sum;
  }

  const CallTree& tree_;
  std::vector<Calls> inside_;  ///< by their end
  std::array<Calls, kCallLayers> outermost_;
  std::vector<std::int64_t> shares_;
  std::int64_t gap_us_ = 0;
};

}  // namespace

std::vector<ChainLink> critical_chain(const CallTree& tree) {
  return ChainFinder(tree).find();
}

ChainShares share_chain(const CallTree& tree) {
  return ChainWalk(tree).run();
}

}  // namespace reprise
