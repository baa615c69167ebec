#include "analysis/spans/join.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "analysis/spans/server_calls.h"
#include "analysis/spans/span_forest.h"
#include "base/http/traceparent.h"

namespace reprise {
namespace {

/// By URL alone, clocks may differ by a minute.
constexpr std::int64_t kClocksApartNsMax = 60'000'000'000;
/// Where a clock is known from other requests, by a little more than that leaves open.
constexpr std::int64_t kKnownClockNsMax = 10'000'000;
constexpr double kStartMsMax = 4e12;

/// A request of the browser, and when its server can have worked on it.
struct Asked {
  std::uint32_t tree = 0;
  std::uint32_t request = 0;
  std::uint32_t wait = 0;
  std::int64_t zero_ns = 0;        ///< the view's start by the browser's clock; 0 if unknown
  std::int64_t sent_ns = 0;        ///< by the browser's clock
  std::int64_t first_byte_ns = 0;  ///< likewise
  bool has_clock = false;          ///< whether the view says when it started
  SpanUrl url;
  std::string_view method;
};

/// The browser's clock minus the server's, in ns. From `least` to `most`.
struct Offset {
  std::int64_t least = std::numeric_limits<std::int64_t>::min();
  std::int64_t most = std::numeric_limits<std::int64_t>::max();

  bool is_empty() const { return least > most && least - most > Span::kGrainNs; }
  std::int64_t middle() const { return least + (most - least) / 2; }
  void narrow(const Offset& by) {
    least = std::max(least, by.least);
    most = std::min(most, by.most);
  }
};

/// Requests that a span can be of, in the order they were sent.
struct Candidates {
  std::vector<std::uint32_t> asked;
  std::int64_t longest_wait_ns = 0;
};

struct Joined {
  std::uint32_t asked = 0;
  std::uint32_t root = 0;
};

/// What one joined request says: the span begins after the request was sent, and ends before the
/// first byte; it only begins before if it is longer than that.
Offset offset_of(const Asked& asked, const Span& span) {
  bool const fits = span.end_ns - span.start_ns <= asked.first_byte_ns - asked.sent_ns;
  return {.least = asked.sent_ns - span.start_ns,
          .most = asked.first_byte_ns - (fits ? span.end_ns : span.start_ns)};
}

/// How far the span is outside the wait if the clocks differ by `offset_ns`.
std::int64_t distance_ns(const Asked& asked, const Span& span, std::int64_t offset_ns) {
  return std::max<std::int64_t>(0, asked.sent_ns - (span.start_ns + offset_ns)) +
         std::max<std::int64_t>(0, span.end_ns + offset_ns - asked.first_byte_ns);
}

std::vector<Asked> requests_of(std::span<CallTree* const> trees) {
  std::vector<Asked> all;
  for (std::uint32_t t = 0; t < trees.size(); ++t) {
    const CallTree& tree = *trees[t];
    auto const started = tree.started_unix_ms.value_or(0);
    bool const has_clock = started > 0 && started < kStartMsMax;
    auto const zero_ns = has_clock ? static_cast<std::int64_t>(started * 1e6) : 0;
    std::map<std::uint32_t, std::size_t> places;
    for (std::uint32_t i = 0; i < tree.calls.size(); ++i) {
      const Call& call = tree.calls[i];
      auto* asked = call.kind == CallKind::kRequest ? &all.emplace_back() : nullptr;
      if (asked != nullptr) {
        places[i] = all.size() - 1;
        *asked = {.tree = t,
                  .request = i,
                  .zero_ns = zero_ns,
                  .has_clock = has_clock,
                  .url = split_span_url(call.name),
                  .method = call.attribute("method")};
      } else if (call.kind == CallKind::kPhase && call.name == "wait") {
        auto const of = places.find(call.parent);
        if (of != places.end() && all[of->second].wait == all[of->second].request) {
          asked = &all[of->second];
        }
      }
      if (asked == nullptr) continue;
      asked->wait = i;
      asked->sent_ns = zero_ns + call.start_us * 1000;
      asked->first_byte_ns = zero_ns + call.end_us * 1000;
    }
  }
  return all;
}

class Joiner {
 public:
  Joiner(std::span<CallTree* const> trees, const SpanSet& set)
      : trees_(trees), set_(set), forest_(forest_of(set)), asked_(requests_of(trees)) {
    taken_.resize(asked_.size());
    for (const Asked& asked : asked_) known_hosts_.insert(asked.url.host);
  }

  std::vector<CallLoss> run() {
    losses_ = set_.losses;
    for (const CallLoss& loss : forest_.losses) {
      add_loss(losses_, loss.what, loss.count);
    }
    auto const left = join_by_traceparent();
    narrow_clocks(0);
    join_by_url(left);
    place();
    return std::move(losses_);
  }

 private:
  const Span& span_of(std::uint32_t root) const { return set_.spans[root]; }

  /// The clock that a span was taken by, against that of the request's view. A view that does not
  /// say when it started has one of its own.
  std::string clock_of(const Asked& asked, const Span& span) const {
    return asked.has_clock ? span.host : span.host + " " + std::to_string(asked.tree);
  }

  void take(std::uint32_t asked, std::uint32_t root) {
    taken_[asked] = true;
    joined_.push_back({asked, root});
  }

  /// A page with tracing of its own has spans for its requests, and those of servers are inside
  /// them: they begin trees here. Returns the roots of such pages, which are of no server.
  std::set<std::uint32_t> begin_trees_at_requests(
      const std::unordered_map<std::string, std::uint32_t>& by_span) {
    std::set<std::uint32_t> of_pages;
    std::vector<std::uint32_t> begun;
    for (auto const root : forest_.roots) {
      for (std::vector<std::uint32_t> waiting{root}; !waiting.empty();) {
        auto& inside = forest_.inside[waiting.back()];
        waiting.pop_back();
        auto const cut = std::erase_if(inside, [&](std::uint32_t i) {
          bool const is_asked = by_span.contains(span_of(i).trace_id + span_of(i).parent_id);
          if (is_asked) begun.push_back(i);
          return is_asked;
        });
        if (cut > 0) of_pages.insert(root);
        waiting.insert(waiting.end(), inside.begin(), inside.end());
      }
    }
    forest_.roots.insert(forest_.roots.end(), begun.begin(), begun.end());
    return of_pages;
  }

  /// Returns the roots that are left.
  std::vector<std::uint32_t> join_by_traceparent() {
    std::unordered_map<std::string, std::uint32_t> by_span;
    std::unordered_map<std::string, std::vector<std::uint32_t>> by_trace;
    for (std::uint32_t i = 0; i < asked_.size(); ++i) {
      const Call& request = trees_[asked_[i].tree]->calls[asked_[i].request];
      auto const parent = parse_traceparent(request.attribute(TraceParent::kField));
      if (!parent) continue;
      by_span.emplace(parent->trace_id + parent->span_id, i);
      by_trace[parent->trace_id].push_back(i);
    }
    auto const of_pages = begin_trees_at_requests(by_span);
    std::vector<std::uint32_t> left;
    for (auto const root : forest_.roots) {
      if (of_pages.contains(root)) continue;
      const Span& span = span_of(root);
      auto const exact = by_span.find(span.trace_id + span.parent_id);
      auto const trace = by_trace.find(span.trace_id);
      if (exact != by_span.end()) {
        take(exact->second, root);
      } else if (trace != by_trace.end() && trace->second.size() == 1) {
        // Something between the browser and this server has kept its spans for itself.
        take(trace->second[0], root);
      } else {
        left.push_back(root);
      }
    }
    return left;
  }

  /// By the joined requests from place `first` on.
  void narrow_clocks(std::size_t first) {
    for (auto i = first; i < joined_.size(); ++i) {
      const Asked& asked = asked_[joined_[i].asked];
      const Span& span = span_of(joined_[i].root);
      clocks_[clock_of(asked, span)].narrow(offset_of(asked, span));
    }
  }

  bool fits(const Asked& asked, const Span& span, const SpanUrl& url) const {
    auto const method = span.first_of({"http.request.method", "http.method"});
    if (!method.empty() && !asked.method.empty() && method != asked.method) return false;
    // A server behind a proxy may know itself by another name than the browser.
    return url.host == asked.url.host || !known_hosts_.contains(url.host);
  }

  /// A span that does not know the query can be of any.
  static std::string target_key(const SpanUrl& url, bool with_query) {
    return with_query ? url.target : url.target.substr(0, url.target.find('?'));
  }

  /// By target, with and without its query: the requests that no trace has, of views with a clock.
  std::unordered_map<std::string, Candidates> candidates_by_target() const {
    std::vector<std::uint32_t> free;
    for (std::uint32_t i = 0; i < asked_.size(); ++i) {
      if (!taken_[i] && asked_[i].has_clock) free.push_back(i);
    }
    std::ranges::sort(free, {}, [&](std::uint32_t i) { return std::pair(asked_[i].sent_ns, i); });
    std::unordered_map<std::string, Candidates> by_target;
    for (auto const i : free) {
      const Asked& asked = asked_[i];
      for (bool const with_query : {false, true}) {
        if (with_query && !asked.url.has_query) continue;
        auto& of_target = by_target[target_key(asked.url, with_query)];
        of_target.asked.push_back(i);
        of_target.longest_wait_ns =
            std::max(of_target.longest_wait_ns, asked.first_byte_ns - asked.sent_ns);
      }
    }
    return by_target;
  }

  /// First where there is one request and one trace of a URL: they tell the clocks for the others.
  void join_by_url(const std::vector<std::uint32_t>& roots) {
    auto const by_target = candidates_by_target();
    std::map<std::string, std::vector<std::uint32_t>> roots_by_target;
    std::size_t lost = 0;
    for (auto const root : roots) {
      const Span& span = span_of(root);
      auto const url = url_of(span);
      auto const key = target_key(url, url.has_query);
      bool const serves = span.kind == "server" || span.kind.empty();
      if (serves && by_target.contains(key)) {
        roots_by_target[key].push_back(root);
      } else {
        ++lost;
      }
    }
    for (bool const single : {true, false}) {
      auto const first = joined_.size();
      for (auto const& [key, same] : roots_by_target) {
        auto const& candidates = by_target.at(key);
        if (single != (same.size() == 1 && candidates.asked.size() == 1)) continue;
        for (auto const root : same) {
          auto const best = nearest(candidates, span_of(root));
          if (best == kNoParent) {
            ++lost;
          } else {
            take(best, root);
          }
        }
      }
      narrow_clocks(first);
    }
    add_loss(losses_, "traces of servers that belong to no request of a view", lost);
  }

  /// The one whose wait is nearest to the span; kNoParent if none is near enough.
  std::uint32_t nearest(const Candidates& candidates, const Span& span) const {
    auto const url = url_of(span);
    auto best = kNoParent;
    auto const clock = clocks_.find(span.host);
    bool const is_known = clock != clocks_.end() && !clock->second.is_empty();
    auto const offset_ns = is_known ? clock->second.middle() : 0;
    auto const open_ns =
        is_known ? std::max<std::int64_t>(0, clock->second.most - clock->second.least) : 0;
    auto least = is_known ? open_ns + kKnownClockNsMax : kClocksApartNsMax;
    auto const consider = [&](std::uint32_t i) {
      if (taken_[i] || !fits(asked_[i], span, url)) return;
      auto const distance = distance_ns(asked_[i], span, offset_ns);
      if (distance > least || (distance == least && best < i)) return;
      least = distance;
      best = i;
    };
    // Outwards from the span's start, until no other can be nearer.
    auto const start_ns = span.start_ns + offset_ns;
    auto const sent_ns = [&](std::uint32_t i) { return asked_[i].sent_ns; };
    auto const middle = std::ranges::lower_bound(candidates.asked, start_ns, {}, sent_ns);
    for (auto at = middle; at != candidates.asked.end() && sent_ns(*at) - start_ns <= least; ++at) {
      consider(*at);
    }
    for (auto at = middle; at != candidates.asked.begin(); consider(*at)) {
      if (start_ns - sent_ns(*--at) - candidates.longest_wait_ns > least) break;
    }
    return best;
  }

  void place() {
    std::set<std::string> contradictory;
    std::vector<bool> changed(trees_.size());
    forget_own_accounts();
    for (auto const& [place, root] : joined_) {
      const Asked& asked = asked_[place];
      const Span& span = span_of(root);
      auto const clock = clock_of(asked, span);
      auto offset = clocks_.at(clock);
      if (offset.is_empty()) {
        contradictory.insert(clock);
        offset = offset_of(asked, span);
      }
      CallTree& tree = *trees_[asked.tree];
      const Call& wait = tree.calls[asked.wait];
      auto const cut = add_span_calls(tree, set_, forest_, root,
                                      {.parent = asked.wait,
                                       .zero_ns = asked.zero_ns - offset.middle(),
                                       .from_us = wait.start_us,
                                       .to_us = wait.end_us});
      tree.lose("server spans outside the wait of their request, cut", cut);
      changed[asked.tree] = true;
    }
    for (std::size_t i = 0; i < trees_.size(); ++i) {
      if (changed[i]) normalize(*trees_[i]);
    }
    add_loss(losses_,
             "servers whose clock contradicts the requests, placed in each request by itself",
             contradictory.size());
  }

  /// Removes what responses said themselves, of the requests that are joined.
  void forget_own_accounts() {
    std::map<std::uint32_t, std::vector<bool>> waits;  // by tree
    for (auto const& [place, root] : joined_) {
      auto& of_tree = waits[asked_[place].tree];
      of_tree.resize(trees_[asked_[place].tree]->calls.size());
      of_tree[asked_[place].wait] = true;
    }
    for (auto& [tree, inside] : waits) forget_own_accounts(tree, inside);
  }
  void forget_own_accounts(std::uint32_t t, std::vector<bool>& inside) {
    CallTree& tree = *trees_[t];
    std::vector<std::uint32_t> places(tree.calls.size());
    std::uint32_t kept = 0;
    for (std::uint32_t i = 0; i < tree.calls.size(); ++i) {
      Call& call = tree.calls[i];
      bool const own = call.parent != kNoParent && inside[call.parent] &&
                       !call.attribute(kSourceAttribute).empty();
      if (own) {
        inside[i] = true;
        continue;
      }
      if (call.parent != kNoParent) call.parent = places[call.parent];
      places[i] = kept;
      if (kept != i) tree.calls[kept] = std::move(call);
      ++kept;
    }
    tree.calls.resize(kept);
    for (Asked& asked : std::ranges::equal_range(asked_, t, {}, &Asked::tree)) {
      asked.request = places[asked.request];
      asked.wait = places[asked.wait];
    }
  }

  std::span<CallTree* const> trees_;
  const SpanSet& set_;
  SpanForest forest_;
  std::vector<Asked> asked_;
  std::vector<bool> taken_;
  std::unordered_set<std::string> known_hosts_;
  std::vector<Joined> joined_;
  std::map<std::string, Offset> clocks_;
  std::vector<CallLoss> losses_;
};

}  // namespace

std::vector<CallLoss> join_spans(std::span<CallTree* const> trees, const SpanSet& set) {
  return Joiner(trees, set).run();
}

}  // namespace reprise
