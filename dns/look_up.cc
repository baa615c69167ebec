#include "dns/look_up.h"

#include <algorithm>

#include "dns/error.h"

namespace reprise::dns {
namespace {

namespace ip = boost::asio::ip;

constexpr std::uint32_t kTtlMax = 24 * 3600;
constexpr std::uint32_t kNegativeTtlMax = 300;

std::uint32_t ttl_of(const Record& record) {
  return record.ttl_s > 0x7fffffffu ? 0 : std::min(record.ttl_s, kTtlMax);  // RFC 2181 section 8
}

const Record* find_record(const Message& response, const Name& owner, Type type) {
  auto const at = std::ranges::find_if(response.answers, [&](const Record& record) {
    return record.type == type && record.record_class == kClassIn && record.name.lowered() == owner;
  });
  return at == response.answers.end() ? nullptr : &*at;
}

/// Follows the CNAMEs. Returns the name at their end, in lower case.
Name follow_chain(const Message& response, LookUpAnswer& answer) {
  auto owner = Name::parse(answer.host).value_or(Name()).lowered();
  while (answer.chain.size() < LookUpAnswer::kChainMax) {
    auto const* const link = find_record(response, owner, Type::kCname);
    if (link == nullptr) break;
    owner = std::get<Target>(link->data).name.lowered();
    answer.ttl_s = std::min(answer.ttl_s, ttl_of(*link));
    answer.chain.push_back(owner.text());
  }
  return owner;
}

void take(const Record& record, LookUpAnswer& answer) {
  answer.ttl_s = std::min(answer.ttl_s, ttl_of(record));
  if (auto const* const a = std::get_if<A>(&record.data)) {
    answer.addresses.push_back(ip::address_v4(a->address));
  } else if (auto const* const aaaa = std::get_if<Aaaa>(&record.data)) {
    answer.addresses.push_back(ip::address_v6(aaaa->address));
  } else if (auto const* const svcb = std::get_if<Svcb>(&record.data)) {
    answer.https.push_back(*svcb);
  }
}

/// How long a failure is valid (RFC 2308 section 5).
std::uint32_t negative_ttl(const Message& response) {
  for (const Record& record : response.authorities) {
    auto const* const soa = std::get_if<Soa>(&record.data);
    if (soa != nullptr) return std::min({ttl_of(record), soa->minimum_s, kNegativeTtlMax});
  }
  return 0;
}

}  // namespace

void read_response(const Message& response, LookUpAnswer& answer) {
  answer.rcode = response.rcode;
  if (response.rcode != Rcode::kNoError && response.rcode != Rcode::kNxDomain) {
    answer.error = errc::refused;
    return;
  }
  answer.ttl_s = kTtlMax;
  auto const owner = follow_chain(response, answer);
  std::size_t taken = 0;
  for (const Record& record : response.answers) {
    if (record.type != answer.type || record.record_class != kClassIn) continue;
    if (record.name.lowered() != owner || taken == LookUpAnswer::kRecordsMax) continue;
    take(record, answer);
    ++taken;
  }
  if (taken > 0) return;
  answer.ttl_s = std::min(answer.ttl_s, negative_ttl(response));
  answer.error = response.rcode == Rcode::kNxDomain ? errc::no_such_name : errc::no_address;
}

}  // namespace reprise::dns
