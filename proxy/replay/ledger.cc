#include "proxy/replay/ledger.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "archive/match/explain.h"
#include "archive/match/parameters.h"

namespace reprise {
namespace {

std::size_t identity_of(std::string_view method, const std::string& url) {
  return std::hash<std::string>()(std::string(method) + " " + url);
}

}  // namespace

std::string ReplayLedger::shortened(std::string text) {
  if (text.size() <= kTextMax) return text;
  text.resize(kTextMax);
  text.shrink_to_fit();
  return text += "...";
}

ReplayLedger::ReplayLedger(const ArchiveReader& archive, std::vector<bool> servable)
    : archive_(archive), servable_(std::move(servable)), served_(archive.entries().size()) {
  servable_count_ = static_cast<std::uint64_t>(std::ranges::count(servable_, true));
}

void ReplayLedger::reset() {
  std::scoped_lock const lock(mutex_);
  for (auto& served : served_) served = 0;
  for (auto* const count : {&hits_, &fuzzy_, &substituted_, &lost_score_, &misdirected_, &injected_,
                            &decoded_, &derived_})
    *count = 0;
  injected_bytes_ = 0;
  for (Waits* const waits : {&think_, &pauses_}) waits->count = 0, waits->time_ns = 0;
  served_count_ = 0;
  synthesis_.reset();
  specials_.reset();
  misses_ = 0;
  damaged_ = 0;
  distinct_misses_.clear();
  inexact_hits_.clear();
  miss_positions_.clear();
  inexact_positions_.clear();
}

void ReplayLedger::add_hit(const Decision& decision, const Exchange& exchange,
                           HttpVersion version) {
  hits_.fetch_add(1, std::memory_order_relaxed);
  // One without a response fails again: nothing is sent.
  if (exchange.response.status != 0 && exchange.response.version != version) {
    synthesis_.add(reprise::synthesised(exchange.request, exchange.response, version));
  }
  auto& served = served_[decision.ordinal];
  // Read first: writing each time would bounce the cache line between threads.
  if (served.load(std::memory_order_relaxed) != 0) return;
  std::uint32_t never = 0;
  auto const place = served_count_.load(std::memory_order_relaxed) + 1;
  // Two that are served at once can share a position: their order is not known either.
  if (served.compare_exchange_strong(never, place)) {
    served_count_.fetch_add(1, std::memory_order_relaxed);
  }
}

void ReplayLedger::add_inexact_hit(const Decision& decision, const Exchange& exchange,
                                   const AskedRequest& asked, const MatchRules& rules) {
  if (decision.kind == MatchKind::kFuzzy) fuzzy_.fetch_add(1, std::memory_order_relaxed);
  if (decision.scheme_substituted) substituted_.fetch_add(1, std::memory_order_relaxed);
  lost_score_.fetch_add(100 - decision.score, std::memory_order_relaxed);

  auto const url = url_of(asked.key);
  auto const identity = identity_of(asked.key.method, url);
  {
    std::scoped_lock const lock(mutex_);
    auto const known = inexact_positions_.find(identity);
    if (known != inexact_positions_.end()) {
      auto& hit = inexact_hits_[known->second];
      ++hit.count;
      hit.score = std::min(hit.score, decision.score);
      return;
    }
    if (inexact_hits_.size() >= kDistinctMax) return;
  }
  auto const& request = exchange.request;
  auto const body =
      archive_.read_body(request.body, kNormalisedBodyBytesMax).value_or(std::vector<std::byte>());
  InexactHit hit{.method = shortened(std::string(asked.key.method)),
                 .url = shortened(url),
                 .count = 1,
                 .score = decision.score,
                 .scheme_substituted = decision.scheme_substituted,
                 .recorded_url = shortened(url_of(request)),
                 .differences = differences(asked_as(request, body), asked, rules.ignored_params)};
  spdlog::info("fuzzy: {} {} by {} ({} %: {})", hit.method, hit.url, hit.recorded_url, hit.score,
               summary(hit.differences));
  std::scoped_lock const lock(mutex_);
  auto const [known, is_new] = inexact_positions_.try_emplace(identity, inexact_hits_.size());
  if (is_new) {
    inexact_hits_.push_back(std::move(hit));
  } else {
    InexactHit& earlier = inexact_hits_[known->second];
    ++earlier.count;
    earlier.score = std::min(earlier.score, decision.score);
  }
}

Miss ReplayLedger::miss_of(const AskedRequest& asked, std::string reason,
                           std::vector<NearMiss> nearest) {
  Miss miss{.method = shortened(std::string(asked.key.method)),
            .url = shortened(url_of(asked.key)),
            .count = 1,
            .reason = std::move(reason),
            .nearest = std::move(nearest)};
  for (NearMiss& near : miss.nearest) {
    near.url = shortened(std::move(near.url));
    near.why = shortened(std::move(near.why));
  }
  return miss;
}

Miss ReplayLedger::miss_by_damage(const AskedRequest& asked, const std::string& problem) {
  return miss_of(asked, "damaged in the archive: " + problem, {});
}

void ReplayLedger::add_miss(const AskedRequest& asked, const Miss& miss) {
  add(asked, miss, false);
}

void ReplayLedger::add_damaged(const AskedRequest& asked, const Miss& miss) {
  add(asked, miss, true);
}

void ReplayLedger::add(const AskedRequest& asked, const Miss& miss, bool damaged) {
  auto const identity = identity_of(asked.key.method, url_of(asked.key));
  std::scoped_lock const lock(mutex_);
  ++misses_;
  if (damaged) ++damaged_;
  auto const known = miss_positions_.find(identity);
  if (known != miss_positions_.end()) {
    ++distinct_misses_[known->second].count;
  } else if (distinct_misses_.size() < kDistinctMax) {
    if (damaged) spdlog::warn("{} {}: {}", miss.method, miss.url, miss.reason);
    miss_positions_.emplace(identity, distinct_misses_.size());
    distinct_misses_.push_back(miss);
  }
}

void ReplayLedger::turn_hit_into_miss(const StoredRequest& request, const std::string& problem) {
  auto hits = hits_.load();
  // A reset in between has already removed the hit.
  while (hits > 0 && !hits_.compare_exchange_weak(hits, hits - 1)) continue;
  auto const asked = asked_as(request, {});
  add_damaged(asked, miss_by_damage(asked, problem));
}

void ReplayLedger::add_special(Special special, const MatchKey& key, std::string why) {
  specials_.add(special, shortened(std::string(key.method)), shortened(url_of(key)),
                shortened(std::move(why)));
}

void ReplayLedger::add_injected(std::int64_t bytes) {
  injected_.fetch_add(1, std::memory_order_relaxed);
  injected_bytes_.fetch_add(bytes, std::memory_order_relaxed);
}

void ReplayLedger::add_wait(Wait kind, std::chrono::nanoseconds time) {
  Waits& waits = kind == Wait::kThink ? think_ : pauses_;
  waits.count.fetch_add(1, std::memory_order_relaxed);
  waits.time_ns.fetch_add(time.count(), std::memory_order_relaxed);
}

ReplayCounts ReplayLedger::counts() const {
  std::scoped_lock const lock(mutex_);
  ReplayCounts counts{.hits = hits_,
                      .fuzzy_hits = fuzzy_,
                      .scheme_substituted = substituted_,
                      .misses = misses_,
                      .damaged = damaged_,
                      .misdirected = misdirected_,
                      .exchanges_servable = servable_count_,
                      .exchanges_served = served_count_,
                      .injected = injected_,
                      .injected_bytes = injected_bytes_,
                      .decoded = decoded_,
                      .derived = derived_,
                      .think = think_.total(),
                      .pauses = pauses_.total(),
                      .special = specials_.counts()};
  if (auto const all = counts.hits + counts.misses; all > 0) {
    auto const lost = static_cast<double>(lost_score_) + 100.0 * static_cast<double>(misses_);
    counts.confidence = std::max(0.0, 100 - lost / static_cast<double>(all));
  }
  return counts;
}

std::vector<Miss> ReplayLedger::misses() const {
  std::scoped_lock const lock(mutex_);
  return distinct_misses_;
}

std::vector<InexactHit> ReplayLedger::inexact_hits() const {
  std::scoped_lock const lock(mutex_);
  return inexact_hits_;
}

RecordedRequest ReplayLedger::name_of(std::uint32_t ordinal) const {
  RecordedRequest named{.sequence = archive_.entries()[ordinal].sequence};
  if (auto const exchange = archive_.exchange(ordinal)) {
    named.method = shortened(exchange->request.method);
    named.url = shortened(url_of(exchange->request));
  }
  return named;
}

std::vector<RecordedRequest> ReplayLedger::never_asked_for(std::size_t max) const {
  std::vector<RecordedRequest> missing;
  for (auto const ordinal : archive_.ordinals_in_order()) {
    if (missing.size() == max) break;
    if (servable_[ordinal] && served_[ordinal] == 0) {
      missing.push_back(name_of(ordinal));
    }
  }
  return missing;
}

std::vector<std::uint32_t> ReplayLedger::out_of_order() const {
  struct Served {
    std::uint32_t ordinal;
    std::uint32_t place;
    std::size_t before;  // in the longest run that ends here, position + 1
  };
  std::vector<Served> all;
  for (auto const ordinal : archive_.ordinals_in_order()) {
    if (auto const place = served_[ordinal].load(); place > 0) all.push_back({ordinal, place, 0});
  }
  // The longest ascending subsequence: ends[n] is the end, with the smallest position, of one of
  // length n + 1.
  std::vector<std::size_t> ends;
  for (std::size_t at = 0; at < all.size(); ++at) {
    auto const end = std::ranges::upper_bound(ends, all[at].place, {},
                                              [&all](std::size_t i) { return all[i].place; });
    all[at].before = end == ends.begin() ? 0 : *(end - 1) + 1;
    if (end == ends.end()) {
      ends.push_back(at);
    } else {
      *end = at;
    }
  }
  std::vector<bool> in_order(all.size());
  for (auto at = ends.empty() ? 0 : ends.back() + 1; at > 0; at = all[at - 1].before) {
    in_order[at - 1] = true;
  }
  std::vector<std::uint32_t> moved;
  for (std::size_t at = 0; at < all.size(); ++at) {
    if (!in_order[at]) moved.push_back(all[at].ordinal);
  }
  return moved;
}

}  // namespace reprise
