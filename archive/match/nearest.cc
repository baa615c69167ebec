#include <algorithm>
#include <tuple>
#include <unordered_set>

#include "archive/match/explain.h"
#include "archive/match/match.h"

namespace reprise {
namespace {

/// How many exchanges of a path are visited to find different ones: also those that cannot answer
/// because they are cut or in another session, and those with another method or scheme.
constexpr std::size_t kVisitsMax = 1024;
constexpr std::size_t kBarredMax = 24;
constexpr std::size_t kOtherwiseMax = 8;

std::string explain_outcome(Outcome outcome) {
  switch (outcome) {
    case Outcome::kCutByClient:
      return "the recording was cut by the client";
    case Outcome::kCutByOrigin:
      return "the recording was cut by the origin";
    default:
      return "the origin failed when it was recorded";
  }
}

/// A recorded exchange with its differences, ordered so that smaller differences come first.
struct Compared {
  std::tuple<bool, bool, unsigned, bool, bool, bool, std::uint64_t> distance;
  NearMiss miss;
};

}  // namespace

/// Finds the exchanges similar to one request, and compares them.
class Matcher::Nearest {
 public:
  Nearest(const Matcher& matcher, const AskedRequest& asked)
      : matcher_(matcher),
        asked_(asked),
        features_(features_of(asked, matcher.rules_.ignored_params)) {}

  std::vector<NearMiss> find();

 private:
  void add_candidates();
  void add_others_of_path();
  void add(std::uint32_t ordinal);
  std::string why(const Exchange& exchange, const AskedRequest& recorded) const;

  const Matcher& matcher_;
  const AskedRequest& asked_;
  std::vector<Feature> features_;
  std::unordered_set<std::uint32_t> seen_;
  std::vector<Compared> compared_;
};

std::vector<NearMiss> Matcher::Nearest::find() {
  add_candidates();
  add_others_of_path();
  std::ranges::sort(compared_, {}, &Compared::distance);
  std::vector<NearMiss> misses;
  for (auto& each : compared_) {
    if (misses.size() == kNearMissesMax) break;
    misses.push_back(std::move(each.miss));
  }
  return misses;
}

void Matcher::Nearest::add_candidates() {
  auto const group = group_hash(family_hash(asked_.key), matcher_.session_);
  auto candidates = find_candidates(matcher_.index_, group, features_, 0);
  auto const found = std::span(candidates.all).first(candidates.count);
  std::ranges::sort(
      found, {}, [](const Candidate& each) { return std::tuple(100 - each.score, each.member); });
  // Repeats of one key would all have the same differences.
  std::unordered_set<std::uint64_t> keys;
  for (const Candidate& each : found) {
    if (keys.size() == kNearMissesMax) break;
    if (keys.insert(matcher_.reader_->entries()[each.ordinal].key_hash).second) add(each.ordinal);
  }
  for (const Candidate& each : found) seen_.insert(each.ordinal);
}

void Matcher::Nearest::add_others_of_path() {
  auto const all = matcher_.reader_->entries();
  std::vector<std::uint32_t> ordinals;
  std::size_t visits = 0;
  std::size_t barred = 0;
  std::size_t otherwise = 0;
  matcher_.reader_->visit_path(
      path_hash(asked_.key.host, asked_.key.target), [&](std::uint32_t ordinal) {
        // Repeats of one key are adjacent, and would all have the same differences.
        auto const& entry = all[ordinal];
        auto const repeats = !ordinals.empty() && all[ordinals.back()].key_hash == entry.key_hash &&
                             all[ordinals.back()].session == entry.session &&
                             all[ordinals.back()].outcome == entry.outcome;
        if (!repeats && !seen_.contains(ordinal)) {
          auto const may_answer =
              entry.session == matcher_.session_ && entry.outcome == Outcome::kComplete;
          auto& count = may_answer ? otherwise : barred;
          if (count++ < (may_answer ? kOtherwiseMax : kBarredMax)) ordinals.push_back(ordinal);
        }
        return barred < kBarredMax && ++visits < kVisitsMax;
      });
  for (auto const ordinal : ordinals) add(ordinal);
}

void Matcher::Nearest::add(std::uint32_t ordinal) {
  if (!seen_.insert(ordinal).second) return;
  auto const exchange = matcher_.reader_->exchange(ordinal);
  if (!exchange || exchange->request.host != asked_.key.host) return;
  auto const& request = exchange->request;
  auto const body = matcher_.reader_->read_body(request.body, kNormalisedBodyBytesMax)
                        .value_or(std::vector<std::byte>());
  auto const recorded = asked_as(request, body);
  auto text = why(*exchange, recorded);
  if (text.empty()) return;
  auto const fits = score(features_, features_of(recorded, matcher_.rules_.ignored_params));
  auto const same_query = request.target == asked_.key.target;
  compared_.push_back(
      {.distance = {request.scheme != asked_.key.scheme || request.port != asked_.key.port,
                    request.method != asked_.key.method, 100 - fits, !same_query,
                    exchange->session != matcher_.session_, exchange->outcome != Outcome::kComplete,
                    exchange->sequence},
       .miss = {.ordinal = ordinal, .url = url_of(request), .why = std::move(text)}});
}

std::string Matcher::Nearest::why(const Exchange& exchange, const AskedRequest& recorded) const {
  auto const& was = recorded.key;
  auto const& is = asked_.key;
  if (was.scheme != is.scheme) {
    return "scheme is " + std::string(to_string(was.scheme)) + ", not " +
           std::string(to_string(is.scheme));
  }
  if (was.port != is.port) {
    return "port is " + std::to_string(was.port) + ", not " + std::to_string(is.port);
  }
  if (was.method != is.method) {
    return "method is " + shown(was.method) + ", not " + shown(is.method);
  }
  auto const phrases = differences(recorded, asked_, matcher_.rules_.ignored_params);
  auto const same_key = was.target == is.target && was.body_digest == is.body_digest;
  if (!phrases.empty() && !same_key) return summary(phrases);
  if (exchange.session != matcher_.session_) {
    return "recorded in session " + std::to_string(exchange.session) + ", replaying session " +
           std::to_string(matcher_.session_);
  }
  if (exchange.outcome != Outcome::kComplete) return explain_outcome(exchange.outcome);
  return summary(phrases);
}

std::vector<NearMiss> Matcher::nearest(const AskedRequest& asked) const {
  return Nearest(*this, asked).find();
}

std::string_view Matcher::miss_reason(const MatchKey& key) const {
  bool path_known = false;
  reader_->visit_path(path_hash(key.host, key.target), [&path_known](std::uint32_t) {
    path_known = true;
    return false;
  });
  if (path_known) return "not recorded";
  auto const has = [&](Scheme scheme) {
    return index_.has_site(site_hash(session_, scheme, key.host));
  };
  return has(Scheme::kHttp) || has(Scheme::kHttps) ? "path never recorded" : "host never recorded";
}

}  // namespace reprise
