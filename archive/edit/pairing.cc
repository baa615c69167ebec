#include "archive/edit/pairing.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "archive/match/match.h"
#include "archive/match/steady_request.h"

namespace reprise {
namespace {

using Ordinals = std::vector<std::uint32_t>;

/// The identity of a request, and its session. The target may be without its volatile values.
using PairKey =
    std::tuple<std::uint32_t, std::string, Scheme, std::string, std::uint16_t, std::string, Sha256>;

/// The exchanges of a run, by key, each in the order of the run.
Result<std::map<PairKey, Ordinals>> group(const ArchiveReader& archive, const Ordinals& run,
                                          bool across_sessions, bool steady) {
  std::map<PairKey, Ordinals> groups;
  for (auto const ordinal : run) {
    auto const exchange = archive.exchange(ordinal);
    if (!exchange) return fail(exchange.error());
    auto const key = key_of(exchange->request);
    auto const target = steady ? steady_request(key.target).text : std::string(key.target);
    groups[PairKey(across_sessions ? 0 : exchange->session, key.method, key.scheme, key.host,
                   key.port, target, key.body_digest)]
        .push_back(ordinal);
  }
  return groups;
}

/// From `begin`: entries of that hash.
Ordinals run_of(std::span<const IndexEntry> entries, std::uint32_t begin, std::uint64_t hash) {
  Ordinals run;
  for (auto at = begin; at < entries.size() && entries[at].key_hash == hash; ++at) {
    run.push_back(at);
  }
  return run;
}

/// An exchange with volatile values.
struct SteadyHash {
  std::uint64_t hash = 0;  ///< of its request without them
  std::uint32_t ordinal = 0;
  std::size_t place = 0;  ///< in the order given
};

/// Those of `ordinals` that have volatile values, by hash, each in the order of `ordinals`.
Result<std::vector<SteadyHash>> steady_hashes(const ArchiveReader& archive,
                                              const Ordinals& ordinals) {
  std::vector<SteadyHash> hashes;
  for (auto const ordinal : ordinals) {
    auto const exchange = archive.exchange(ordinal);
    if (!exchange) return fail(exchange.error());
    const StoredRequest& request = exchange->request;
    auto const steady = steady_request(request.target);
    if (steady.volatile_values.empty()) continue;
    auto const text = request.method + " " + request.host + steady.text;
    hashes.push_back(
        {.hash = std::hash<std::string>()(text), .ordinal = ordinal, .place = hashes.size()});
  }
  std::ranges::sort(hashes, {}, [](const SteadyHash& of) { return std::pair(of.hash, of.place); });
  return hashes;
}

/// From `at` on: those of that hash. Moves `at` past them.
Ordinals take_run(const std::vector<SteadyHash>& hashes, std::size_t& at, std::uint64_t hash) {
  Ordinals run;
  for (; at < hashes.size() && hashes[at].hash == hash; ++at) run.push_back(hashes[at].ordinal);
  return run;
}

}  // namespace

Result<void> ExchangePairing::run(std::span<const std::uint32_t> a_in_order,
                                  std::span<const std::uint32_t> b_in_order) {
  partner_.assign(a_.entries().size(), kNobody);
  taken_.assign(b_.entries().size(), false);
  if (auto paired = pair_equal(); !paired) return paired;
  Ordinals left_of_a;
  Ordinals left_of_b;
  for (auto const ordinal : a_in_order) {
    if (partner_[ordinal] == kNobody) left_of_a.push_back(ordinal);
  }
  for (auto const ordinal : b_in_order) {
    if (!taken_[ordinal]) left_of_b.push_back(ordinal);
  }
  if (left_of_a.empty() || left_of_b.empty()) return {};
  return pair_volatile(left_of_a, left_of_b);
}

Result<void> ExchangePairing::pair_equal() {
  // Both are sorted by the hash of the key.
  std::size_t in_b = 0;
  for (std::size_t in_a = 0; in_a < partner_.size();) {
    auto const hash = a_.entries()[in_a].key_hash;
    auto const of_a = run_of(a_.entries(), static_cast<std::uint32_t>(in_a), hash);
    while (in_b < taken_.size() && b_.entries()[in_b].key_hash < hash) ++in_b;
    auto const of_b = run_of(b_.entries(), static_cast<std::uint32_t>(in_b), hash);
    if (auto paired = pair_run(of_a, of_b, false); !paired) return paired;
    in_a += of_a.size();
    in_b += of_b.size();
  }
  return {};
}

Result<void> ExchangePairing::pair_volatile(const Ordinals& left_of_a, const Ordinals& left_of_b) {
  auto const in_a = steady_hashes(a_, left_of_a);
  if (!in_a) return fail(in_a.error());
  if (in_a->empty()) return {};
  auto const in_b = steady_hashes(b_, left_of_b);
  if (!in_b) return fail(in_b.error());
  std::size_t at_b = 0;
  for (std::size_t at_a = 0; at_a < in_a->size();) {
    auto const hash = (*in_a)[at_a].hash;
    auto const of_a = take_run(*in_a, at_a, hash);
    while (at_b < in_b->size() && (*in_b)[at_b].hash < hash) ++at_b;
    auto const of_b = take_run(*in_b, at_b, hash);
    if (auto paired = pair_run(of_a, of_b, true); !paired) return paired;
  }
  return {};
}

Result<void> ExchangePairing::pair_run(const Ordinals& in_a, const Ordinals& in_b, bool steady) {
  if (in_b.empty()) return {};
  auto const of_a = group(a_, in_a, across_sessions_, steady);
  if (!of_a) return fail(of_a.error());
  auto const of_b = group(b_, in_b, across_sessions_, steady);
  if (!of_b) return fail(of_b.error());
  for (auto const& [key, ours] : *of_a) {
    auto const theirs = of_b->find(key);
    if (theirs == of_b->end()) continue;
    auto const pairs = std::min(ours.size(), theirs->second.size());
    for (std::size_t i = 0; i < pairs; ++i) {
      partner_[ours[i]] = theirs->second[i];
      taken_[theirs->second[i]] = true;
    }
  }
  return {};
}

}  // namespace reprise
