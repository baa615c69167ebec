#include <algorithm>
#include <map>
#include <tuple>

#include "archive/match.h"

namespace reprise {
namespace {

/// How many ordinals of a path are passed over to find kCandidatesMax different keys among them.
constexpr std::size_t kVisitsMax = 4096;
constexpr std::size_t kParametersMax = 256;
constexpr std::size_t kShownBytesMax = 60;

std::string shown(std::string_view text) {
  if (text.size() <= kShownBytesMax) return std::string(text);
  return std::string(text.substr(0, kShownBytesMax)) + "...";
}

std::string_view query_of(std::string_view target) {
  auto const mark = target.find('?');
  return mark == std::string_view::npos ? std::string_view() : target.substr(mark + 1);
}

using Parameters = std::multimap<std::string_view, std::string_view>;

Parameters parameters_of(std::string_view query) {
  Parameters parameters;
  while (!query.empty() && parameters.size() < kParametersMax) {
    auto const end = std::min(query.find('&'), query.size());
    auto const pair = query.substr(0, end);
    auto const equals = std::min(pair.find('='), pair.size());
    parameters.emplace(pair.substr(0, equals), pair.substr(std::min(equals + 1, pair.size())));
    query.remove_prefix(std::min(end + 1, query.size()));
  }
  return parameters;
}

struct QueryDifference {
  std::size_t count = 0;
  std::string first;  ///< one difference, for people
};

/// How the recorded query differs from the asked one.
QueryDifference compare_queries(std::string_view recorded, std::string_view asked) {
  if (recorded == asked) return {};
  auto const was = parameters_of(recorded);
  auto const is = parameters_of(asked);
  QueryDifference difference;
  auto const note = [&difference](std::string what) {
    if (difference.count++ == 0) difference.first = std::move(what);
  };
  for (auto const& [name, value] : was) {
    auto const found = is.find(name);
    if (found == is.end()) {
      note("query parameter " + shown(name) + " is missing" +
           (value.empty() ? "" : ": it was " + shown(value)));
    } else if (found->second != value && was.count(name) == 1) {
      note("query parameter " + shown(name) + " differs: " + shown(value) + " -> " +
           shown(found->second));
    } else if (was.count(name) != is.count(name)) {
      note("query parameter " + shown(name) + " is repeated differently");
    }
  }
  for (auto const& [name, value] : is) {
    if (was.contains(name)) continue;
    note("query parameter " + shown(name) + " is new" + (value.empty() ? "" : ": " + shown(value)));
  }
  if (difference.count == 0) note("the query is written differently: " + shown(recorded));
  return difference;
}

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

/// A candidate with what sets it apart, most weighty first: fewer and lesser differences sort
/// first.
struct Candidate {
  std::tuple<bool, bool, std::size_t, bool, bool, bool, std::uint32_t> distance;
  NearMiss miss;
};

Candidate compare(const Exchange& exchange, std::uint32_t ordinal, const MatchKey& key,
                  std::uint32_t session) {
  auto const& request = exchange.request;
  auto const other_site = request.scheme != key.scheme || request.port != key.port;
  auto const other_method = request.method != key.method;
  auto const query = compare_queries(query_of(request.target), query_of(key.target));
  auto const other_body = key_of(request).body_digest != key.body_digest;
  auto const other_session = exchange.session != session;
  auto const not_complete = exchange.outcome != Outcome::kComplete;

  Candidate candidate{.distance = {other_site, other_method, query.count, other_body, other_session,
                                   not_complete, ordinal},
                      .miss = {.ordinal = ordinal, .url = url_of(request), .why = {}}};
  auto& why = candidate.miss.why;
  if (request.scheme != key.scheme) {
    why = "scheme is " + std::string(to_string(request.scheme)) + ", not " +
          std::string(to_string(key.scheme));
  } else if (request.port != key.port) {
    why = "port is " + std::to_string(request.port) + ", not " + std::to_string(key.port);
  } else if (other_method) {
    why = "method is " + shown(request.method) + ", not " + shown(key.method);
  } else if (query.count > 0) {
    why = query.first;
    if (query.count > 1) why += " (and " + std::to_string(query.count - 1) + " more)";
  } else if (other_body) {
    why = "request body differs";
  } else if (other_session) {
    why = "recorded in session " + std::to_string(exchange.session) + ", replaying session " +
          std::to_string(session);
  } else if (not_complete) {
    why = explain_outcome(exchange.outcome);
  }
  return candidate;
}

}  // namespace

std::vector<NearMiss> Matcher::nearest(const MatchKey& key) const {
  auto const all = reader_->entries();
  std::vector<std::uint32_t> ordinals;
  std::size_t visits = 0;
  reader_->visit_path(path_hash(key.host, key.target), [&](std::uint32_t ordinal) {
    // Repeats of one key stand one behind the other, and would all say the same.
    auto const& entry = all[ordinal];
    auto const repeats = !ordinals.empty() && all[ordinals.back()].key_hash == entry.key_hash &&
                         all[ordinals.back()].session == entry.session &&
                         all[ordinals.back()].outcome == entry.outcome;
    if (!repeats) ordinals.push_back(ordinal);
    return ordinals.size() < kCandidatesMax && ++visits < kVisitsMax;
  });

  std::vector<Candidate> candidates;
  for (auto const ordinal : ordinals) {
    auto const exchange = reader_->exchange(ordinal);
    if (!exchange || exchange->request.host != key.host) continue;
    auto candidate = compare(*exchange, ordinal, key, session_);
    if (!candidate.miss.why.empty()) candidates.push_back(std::move(candidate));
  }
  std::ranges::sort(candidates, {}, &Candidate::distance);
  std::vector<NearMiss> misses;
  for (auto& candidate : candidates) {
    if (misses.size() == kNearMissesMax) break;
    misses.push_back(std::move(candidate.miss));
  }
  return misses;
}

}  // namespace reprise
