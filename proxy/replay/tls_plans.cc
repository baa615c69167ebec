#include "proxy/replay/tls_plans.h"

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <set>
#include <utility>

namespace reprise {
namespace {

constexpr const char* kH1 = "http/1.1";
constexpr const char* kH2 = "h2";

bool is_address_literal(const std::string& host) {
  boost::system::error_code error;
  (void)boost::asio::ip::make_address(host, error);
  return !error;
}

}  // namespace

TlsChanges with_shared_h3(TlsChanges changes) {
  if (changes.page.empty()) return changes;
  for (auto* const hosts : {&changes.h3, &changes.h3_offers}) {
    if (hosts->contains(changes.page)) {
      hosts->insert(changes.coalesced.begin(), changes.coalesced.end());
    } else {
      for (const std::string& host : changes.coalesced) hosts->erase(host);
    }
  }
  return changes;
}

TlsPlans::TlsPlans(const ArchiveReader& archive, std::uint32_t session, Protocol protocol,
                   const TlsChanges& changes)
    : protocol_(protocol) {
  auto served = with_shared_h3(changes);
  h3_ = std::move(served.h3);
  h3_.merge(served.h3_offers);
  for (const ConnectionFacts& facts : archive.connections()) {
    if (facts.session != session || facts.tls_version.empty()) continue;
    // An origin that negotiated nothing used HTTP/1.1, unless its exchanges show otherwise.
    bool const h1 = facts.alpn.empty() || facts.alpn.starts_with("http/");
    TlsPlan plan{.names = {.names = facts.certificate_names, .chain_bytes = facts.chain_bytes},
                 .alpn = h1 ? kH1 : kH2,
                 .tls_version = facts.tls_version};
    cover(plan.names, facts.host);
    bool const decided = facts.alpn.starts_with("http/") || facts.alpn == kH2;
    auto& known = recorded_[{facts.host, facts.port}];
    // A browser opens WebSockets on separate connections, where it offers only HTTP/1.1.
    if (known.decided && known.plan.alpn == kH2 && plan.alpn == kH1) continue;
    known = Recorded{std::move(plan), decided};
  }
  read_exchanges(archive, session);
  find_web_sockets(archive, session);
  change(changes);
}

void TlsPlans::change(const TlsChanges& changes) {
  for (auto& [place, known] : recorded_) {
    auto const alpn = changes.alpn.find(place.first);
    if (alpn == changes.alpn.end()) continue;
    known.plan.alpn = alpn->second;
    known.plan.web_sockets = known.plan.web_sockets || alpn->second == kH2;
    known.decided = true;
    known.changed = true;
  }
  auto const* const page = find(changes.page, default_port(Scheme::kHttps));
  if (changes.coalesced.empty() || page == nullptr) return;
  auto shared = *page;
  for (const std::string& host : changes.coalesced) cover(shared.plan.names, host);
  for (auto& [place, known] : recorded_) {
    if (place.first == changes.page) known.plan.names = shared.plan.names;
    if (changes.coalesced.contains(place.first)) known = shared;
  }
}

void TlsPlans::read_exchanges(const ArchiveReader& archive, std::uint32_t session) {
  for (std::uint32_t ordinal = 0; ordinal < archive.entries().size(); ++ordinal) {
    const IndexEntry& entry = archive.entries()[ordinal];
    if (entry.session != session || entry.outcome == Outcome::kOriginFailed) continue;
    auto const site = archive.site(ordinal);
    if (!site || site->scheme != Scheme::kHttps) continue;
    std::string const host(site->host);
    auto place = recorded_.find({host, site->port});
    if (place == recorded_.end()) {
      TlsPlan plan{.names = {.names = {host}}, .alpn = kH1};
      place = recorded_.try_emplace({host, site->port}, std::move(plan), false).first;
    }
    auto& known = place->second;
    if (known.decided) continue;
    auto const version = site->version;
    known.decided = version != HttpVersion::kUnknown && version != HttpVersion::kH3;
    known.plan.alpn = known.decided && version != HttpVersion::kH2 ? kH1 : kH2;
  }
  for (auto& [place, known] : recorded_) known.decided = known.decided || known.plan.alpn == kH1;
}

void TlsPlans::find_web_sockets(const ArchiveReader& archive, std::uint32_t session) {
  std::set<std::uint64_t> sequences;
  for (auto const& place : archive.messages()) {
    if (place.owner.session == session) sequences.insert(place.owner.sequence);
  }
  if (sequences.empty()) return;
  for (std::uint32_t ordinal = 0; ordinal < archive.entries().size(); ++ordinal) {
    const IndexEntry& entry = archive.entries()[ordinal];
    if (entry.session != session || !sequences.contains(entry.sequence)) continue;
    auto const exchange = archive.exchange(ordinal);
    if (!exchange || exchange->request.version != HttpVersion::kH2) continue;
    auto const known = recorded_.find({exchange->request.host, exchange->request.port});
    if (known != recorded_.end()) known->second.plan.web_sockets = true;
  }
}

const TlsPlans::Recorded* TlsPlans::find(const std::string& host, std::uint16_t port) const {
  for (auto const likely : {port, default_port(Scheme::kHttps)}) {
    auto const known = recorded_.find({host, likely});
    if (known != recorded_.end()) return &known->second;
  }
  auto const first = recorded_.lower_bound({host, 0});
  return first != recorded_.end() && first->first.first == host ? &first->second : nullptr;
}

TlsPlan TlsPlans::offered(const Recorded& known) const {
  auto plan = known.plan;
  if (known.changed) return plan;
  if (protocol_ == Protocol::kH1) plan.alpn = kH1;
  bool const h2 = protocol_ == Protocol::kH2 || protocol_ == Protocol::kH3;
  if (h2) plan.alpn = kH2;
  // If everything uses h2, WebSockets do, too.
  plan.web_sockets = plan.web_sockets || h2;
  return plan;
}

TlsPlan TlsPlans::of(const std::string& host, std::uint16_t port) const {
  auto const* const known = find(host, port);
  if (known != nullptr) return offered(*known);
  return offered({.plan = {.names = {.names = {host}}, .alpn = kH1}});
}

bool TlsPlans::speaks_h3(const std::string& host) const {
  auto const* const known = find(host, default_port(Scheme::kHttps));
  bool const changed = known != nullptr && known->changed;
  return h3_.contains(host) || (protocol_ == Protocol::kH3 && !changed);
}

bool TlsPlans::unnamed_speaks_h3(const std::string& address) const {
  if (knows(address)) return speaks_h3(address);
  return protocol_ == Protocol::kH3 || std::ranges::any_of(h3_, is_address_literal);
}

TlsPlan TlsPlans::unnamed(const std::string& address) const {
  if (knows(address)) return of(address, default_port(Scheme::kHttps));
  auto const speaks_h2 = [](auto const& each) { return each.second.plan.alpn == kH2; };
  bool const all = !recorded_.empty() && std::ranges::all_of(recorded_, speaks_h2);
  return offered({.plan = {.names = {.names = {address}}, .alpn = all ? kH2 : kH1}});
}

std::vector<TlsHost> TlsPlans::hosts() const {
  std::vector<TlsHost> hosts;
  for (auto const& [place, known] : recorded_) {
    hosts.push_back({.host = place.first,
                     .port = place.second,
                     .protocol = offered(known).alpn,
                     .assumed = !known.decided && protocol_ == Protocol::kRecorded});
  }
  return hosts;
}

std::vector<LeafNames> TlsPlans::leaves() const {
  std::vector<LeafNames> leaves;
  for (auto const& [place, known] : recorded_) leaves.push_back(known.plan.names);
  return leaves;
}

}  // namespace reprise
