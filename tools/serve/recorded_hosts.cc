#include "tools/serve/recorded_hosts.h"

#include <algorithm>
#include <map>
#include <unordered_set>

#include "archive/match/match.h"
#include "archive/think_time.h"
#include "dns/host.h"
#include "dns/look_up.h"
#include "dns/wire.h"

namespace reprise {
namespace {

/// The session's DNS data by host, without addresses: those of the connections count. What an
/// answer has beyond a recorder's limits is ignored: it would cost memory for each host.
class RecordedNames {
 public:
  RecordedNames(const ArchiveReader& archive, std::uint32_t session) {
    for (const DnsAnswer& answer : archive.answers()) {
      if (answer.session == session) take(answer);
    }
  }

  bool know(const std::string& host) const { return by_host_.contains(host); }
  /// Chain, TTL and HTTPS records of `host`, if there are any.
  dns::RecordedHost of(const std::string& host) const {
    auto const found = by_host_.find(host);
    auto recorded = found == by_host_.end() ? dns::RecordedHost() : found->second;
    recorded.host = host;
    return recorded;
  }

 private:
  void take(const DnsAnswer& answer) {
    auto& recorded = by_host_[answer.host];
    // The first answer counts, as for the page; both families have the same chain.
    if (!answer.addresses.empty() && !recorded.ttl_s) {
      if (answer.chain.size() <= dns::LookUpAnswer::kChainMax) recorded.chain = answer.chain;
      recorded.ttl_s = answer.ttl_s;
    }
    if (!recorded.https.empty()) return;
    for (const auto& bytes : answer.https) {
      if (recorded.https.size() == dns::LookUpAnswer::kRecordsMax) break;
      if (auto record = dns::decode_svcb(bytes)) recorded.https.push_back(std::move(*record));
    }
  }

  std::map<std::string, dns::RecordedHost> by_host_;
};

LookupTimes answer_delays(const LookupTimes& took, double factor) {
  return {.a = multiplied(took.a, factor),
          .aaaa = multiplied(took.aaaa, factor),
          .https = multiplied(took.https, factor)};
}

}  // namespace

std::vector<dns::RecordedHost> recorded_hosts(const ArchiveReader& archive, std::uint32_t session) {
  if (session == 0) session = session_to_replay(archive);
  RecordedNames const names(archive, session);
  std::vector<dns::RecordedHost> hosts;
  std::unordered_set<std::string> seen;
  bool recorded_here = true;
  for (const ConnectionFacts& facts : archive.connections()) {
    if (facts.session != session) continue;
    recorded_here = recorded_here && names.know(facts.host);
    if (facts.address.empty()) {
      // Reached through a proxy, which alone knew the address.
      bool const reached = facts.ready != kNoTime;
      if (reached && seen.insert(facts.host).second) hosts.push_back(names.of(facts.host));
      continue;
    }
    // What is the same for the host is given once.
    bool const first = seen.insert(facts.host).second;
    hosts.push_back(first ? names.of(facts.host) : dns::RecordedHost{.host = facts.host});
    hosts.back().addresses = {facts.address};
  }
  if (!hosts.empty() && recorded_here) return hosts;
  // Imports have connections for some exchanges at most, and no answers. (Nor has a recording
  // where an address was asked for, or through a proxy: what follows adds nothing to that.)
  for (auto const ordinal : archive.ordinals_in_order()) {
    auto const& entry = archive.entries()[ordinal];
    if (entry.session != session || entry.outcome == Outcome::kOriginFailed) continue;
    auto const site = archive.site(ordinal);
    if (!site) continue;  // damaged: a miss that the replay explains
    if (std::string const host(site->host); seen.insert(host).second) {
      hosts.push_back(names.of(host));
    }
  }
  return hosts;
}

bool delay_answers(const ArchiveReader& archive, std::uint32_t session, const ThinkTime& time,
                   std::vector<dns::RecordedHost>& hosts, dns::OtherDelays& others) {
  if (time.kind == ThinkTime::Kind::kNone) return false;
  if (time.kind == ThinkTime::Kind::kFixed) {
    others.all = time.fixed;
    for (dns::RecordedHost& each : hosts) each.delay = LookupTimes::all(time.fixed);
    return time.fixed.count() > 0;
  }
  if (session == 0) session = session_to_replay(archive);
  bool has_any = false;
  for (auto const& [host, took] : lookup_times(archive, session)) {
    auto const delay = answer_delays(took, time.factor);
    has_any = has_any || delay.has_any();
    others.by_name.emplace(host, delay);
  }
  for (dns::RecordedHost& each : hosts) {
    auto const known = others.by_name.find(each.host);
    if (known != others.by_name.end()) each.delay = known->second;
  }
  for (const dns::RecordedHost& each : hosts) others.by_name.erase(each.host);
  return has_any;
}

std::map<net::ip::address, std::chrono::nanoseconds> recorded_round_trips(
    const ArchiveReader& archive, std::uint32_t session) {
  if (session == 0) session = session_to_replay(archive);
  std::map<net::ip::address, std::chrono::nanoseconds> least;
  for (const ConnectionFacts& facts : archive.connections()) {
    auto const address = dns::parse_address(facts.address);
    auto const took = round_trip_of(facts);
    if (facts.session != session || !address || !took) continue;
    auto const [at, added] = least.emplace(*address, *took);
    if (!added) at->second = std::min(at->second, *took);
  }
  return least;
}

bool has_think_times(const ArchiveReader& archive, std::uint32_t session) {
  if (session == 0) session = session_to_replay(archive);
  auto const entries = archive.entries();
  for (std::uint32_t i = 0; i < entries.size(); ++i) {
    if (entries[i].session != session) continue;
    auto const exchange = archive.exchange(i);
    if (!exchange) continue;
    const Timings& timings = exchange->timings;
    if (timings.request_sent != kNoTime && timings.first_byte != kNoTime) return true;
  }
  return false;
}

}  // namespace reprise
