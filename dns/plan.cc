#include "dns/plan.h"

#include <algorithm>
#include <set>

#include "dns/error.h"
#include "dns/host.h"
#include "dns/look_up.h"
#include "dns/served_https.h"

namespace reprise::dns {
namespace {

namespace ip = boost::asio::ip;

constexpr std::size_t kRefusedMax = 100;
constexpr std::size_t kHostsOfRange = 254;  // last bytes 0 and 255 are those of networks

/// The address of number `index`, from 0.
ip::address_v4 stand_in(Plan::Range range, std::size_t index) {
  std::uint32_t const network = (range == Plan::Range::kLoopback ? 127u : 198u) << 24 | 18u << 16;
  auto const third = static_cast<std::uint32_t>(index / kHostsOfRange);
  auto const fourth = static_cast<std::uint32_t>(index % kHostsOfRange + 1);
  return ip::address_v4(network | third << 8 | fourth);
}

}  // namespace

class Plan::Builder {
 public:
  explicit Builder(const Options& options) : options_(options) {
    plan_.catch_all_ =
        options.single
            ? stand_in(options.range, 0)
            : ip::address_v4(stand_in(options.range, 0).to_uint() + (1u << 16));  // 18 becomes 19
  }

  void add(const RecordedHost& recorded) {
    auto const name = normal_host(recorded.host);
    if (!name) {
      if (plan_.refused_.size() < kRefusedMax) plan_.refused_.push_back(recorded.host);
      return;
    }
    auto const [at, added] = plan_.by_host_.try_emplace(*name, plan_.hosts_.size());
    if (added) plan_.hosts_.push_back({.host = *name, .literal = parse_address(*name).has_value()});
    auto& host = plan_.hosts_[at->second];
    for (const auto& text : recorded.addresses) {
      if (auto const origin = parse_address(text)) add_address(host, *origin);
    }
    if (host.chain.empty()) add_chain(host, recorded);
    if (!host.ttl_s) host.ttl_s = recorded.ttl_s;
    if (host.https.empty()) host.https = recorded.https;
    host.delay = {.a = std::max(host.delay.a, recorded.delay.a),
                  .aaaa = std::max(host.delay.aaaa, recorded.delay.aaaa),
                  .https = std::max(host.delay.https, recorded.delay.https)};
  }

  Result<Plan> finish() {
    for (Host& host : plan_.hosts_) {
      if (!host.addresses.empty()) continue;
      if (auto const literal = host.literal ? parse_address(host.host) : std::nullopt) {
        add_address(host, *literal);
      } else if (auto const address = next()) {
        host.addresses.push_back(*address);
      }
    }
    if (overflow_) return fail(errc::too_many_addresses);
    if (options_.single && !plan_.hosts_.empty()) plan_.stand_ins_ = {plan_.catch_all_};
    return std::move(plan_);
  }

 private:
  void add_address(Host& host, const ip::address& origin) {
    auto known = plan_.by_origin_.find(origin);
    if (known == plan_.by_origin_.end()) {
      auto const address = next();
      if (!address) return;
      known = plan_.by_origin_.emplace(origin, *address).first;
    }
    auto const number = static_cast<std::size_t>(&host - plan_.hosts_.data());
    if (has_.emplace(number, known->second).second) host.addresses.push_back(known->second);
  }

  static void add_chain(Host& host, const RecordedHost& recorded) {
    if (recorded.chain.size() > LookUpAnswer::kChainMax) return;
    std::set<std::string> seen{host.host};
    for (const auto& link : recorded.chain) {
      auto const name = normal_host(link);
      if (!name || !seen.insert(*name).second) return host.chain.clear();
      host.chain.push_back(*name);
    }
  }

  std::optional<ip::address_v4> next() {
    if (options_.single) return plan_.catch_all_;
    overflow_ = overflow_ || plan_.stand_ins_.size() == kAddressesMax;
    if (overflow_) return std::nullopt;
    plan_.stand_ins_.push_back(stand_in(options_.range, plan_.stand_ins_.size()));
    return plan_.stand_ins_.back();
  }

  Options options_;
  Plan plan_;
  std::set<std::pair<std::size_t, ip::address_v4>> has_;  // which host has which stand-in
  bool overflow_ = false;
};

Result<Plan> Plan::create(const std::vector<RecordedHost>& recorded, const Options& options) {
  Builder builder(options);
  for (const RecordedHost& host : recorded) builder.add(host);
  return builder.finish();
}

const Plan::Host* Plan::find(std::string_view host) const {
  auto const name = normal_host(host);
  if (!name) return nullptr;
  auto const at = by_host_.find(*name);
  return at == by_host_.end() ? nullptr : &hosts_[at->second];
}

std::optional<ip::address_v4> Plan::stand_in_of(const ip::address& origin) const {
  auto const at = by_origin_.find(origin);
  if (at == by_origin_.end()) return std::nullopt;
  return at->second;
}

std::string Plan::chromium_rules(const Ports& ports, bool with_catch_all) const {
  std::string rules;
  auto const map = [&rules](const std::string& pattern, const std::string& replacement) {
    rules += (rules.empty() ? "MAP " : ",MAP ") + pattern + " " + replacement;
  };
  bool const moved = ports.http != 80 || ports.https != 443;
  auto const map_all = [&](const std::string& host, bool literal, const ip::address_v4& address) {
    auto const to = address.to_string();
    if (!moved) return map(host, to);
    // The first matching rule counts. Chromium compares patterns with the host and with HOST:PORT.
    auto const with_port = literal && host.contains(':') ? "[" + host + "]" : host;
    if (ports.http != ports.https) map(with_port + ":80", to + ":" + std::to_string(ports.http));
    map(host, to + ":" + std::to_string(ports.https));
  };
  for (const Host& host : hosts_) map_all(host.host, host.literal, host.addresses.front());
  if (with_catch_all) {
    map_all("*", false, catch_all_);
  } else {
    map("*", "~NOTFOUND");
  }
  return rules;
}

Zone Plan::zone(bool with_catch_all, const std::set<std::string>& h3_hosts) const {
  Zone zone;
  std::set<std::string, std::less<>> links;
  for (const Host& host : hosts_) links.insert(host.chain.begin(), host.chain.end());
  auto const known = [&](const Name& target) {
    return links.contains(target.lowered().text()) || find(target.text()) != nullptr;
  };
  for (const Host& host : hosts_) {
    if (host.literal) continue;
    ZoneEntry entry{.host = host.host,
                    .v4 = host.addresses,
                    .chain = host.chain,
                    .ttl_s = host.ttl_s,
                    .delay = host.delay};
    for (const Svcb& recorded : host.https) {
      auto record = served_https(recorded, host.addresses, known, h3_hosts.contains(host.host));
      if (record) entry.https.push_back(std::move(*record));
    }
    zone.entries.push_back(std::move(entry));
  }
  if (with_catch_all) zone.catch_all = catch_all_;
  return zone;
}

}  // namespace reprise::dns
