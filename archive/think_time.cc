#include "archive/think_time.h"

#include <algorithm>
#include <charconv>

namespace reprise {
namespace {

using std::chrono::nanoseconds;

constexpr double kFactorMax = 1000;

/// A number of at most `max`, nothing else.
std::optional<double> number_in(std::string_view text, double max) {
  double value = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  bool const whole = error == std::errc() && end == text.data() + text.size();
  if (!whole || !(value >= 0 && value <= max)) return std::nullopt;
  return value;
}

void keep_longest(std::optional<nanoseconds>& longest, nanoseconds time) {
  longest = std::max(longest.value_or(time), time);
}

/// The longest queries of one type about one host.
struct Queries {
  std::optional<nanoseconds> answered;
  std::optional<nanoseconds> unanswered;
  std::optional<nanoseconds> with_addresses;

  void add(const DnsAnswer& answer) {
    auto const took = time_between(answer.asked, answer.answered);
    keep_longest(answer.rcode ? answered : unanswered, took);
    if (!answer.addresses.empty()) keep_longest(with_addresses, took);
  }
  std::optional<nanoseconds> took() const { return answered ? answered : unanswered; }
  /// How long the recorder waited for addresses of this family.
  std::optional<nanoseconds> waited(const Queries& other_family) const {
    auto const& other = other_family.with_addresses;
    if (!took() || !other) return took();
    return std::min<nanoseconds>(*took(), *other + kOtherFamilyWait);
  }
};

/// All queries about one host.
struct HostQueries {
  Queries a;
  Queries aaaa;
  Queries https;

  void add(const DnsAnswer& answer) {
    if (answer.type == kQueryA) a.add(answer);
    if (answer.type == kQueryAaaa) aaaa.add(answer);
    if (answer.type == kQueryHttps) https.add(answer);
  }
  std::optional<LookupTimes> times() const {
    auto const a_waited = a.waited(aaaa);
    auto const aaaa_waited = aaaa.waited(a);
    auto https_waited = https.took();
    if (https_waited && !https.answered && (a_waited || aaaa_waited)) {
      auto const addresses =
          std::max(a_waited.value_or(nanoseconds()), aaaa_waited.value_or(nanoseconds()));
      https_waited = std::min(*https_waited, addresses);
    }
    std::optional<nanoseconds> least;
    for (auto const& waited : {a_waited, aaaa_waited, https_waited}) {
      if (waited) least = std::min(least.value_or(*waited), *waited);
    }
    if (!least) return std::nullopt;
    return LookupTimes{.a = a_waited.value_or(*least),
                       .aaaa = aaaa_waited.value_or(*least),
                       .https = https_waited.value_or(*least)};
  }
};

}  // namespace

std::optional<nanoseconds> parse_milliseconds(std::string_view text) {
  using Milliseconds = std::chrono::duration<double, std::milli>;
  if (text.ends_with("ms")) text.remove_suffix(2);
  auto const number = number_in(text, Milliseconds(kThinkTimeMax).count());
  if (!number) return std::nullopt;
  return std::chrono::round<nanoseconds>(Milliseconds(*number));
}

std::optional<double> parse_factor(std::string_view text) {
  return text.starts_with('x') ? number_in(text.substr(1), kFactorMax) : std::nullopt;
}

nanoseconds multiplied(nanoseconds time, double factor) {
  auto const product = static_cast<double>(time.count()) * factor;
  constexpr auto kMaxCount = static_cast<double>(nanoseconds(kThinkTimeMax).count());
  return nanoseconds(static_cast<std::int64_t>(std::min(product, kMaxCount)));
}

nanoseconds time_between(SessionTime from, SessionTime to) {
  if (from == kNoTime || to == kNoTime || to <= from) return {};
  std::int64_t difference = 0;
  bool const over = __builtin_sub_overflow(to.count(), from.count(), &difference);
  return over ? kThinkTimeMax : std::min<nanoseconds>(nanoseconds(difference), kThinkTimeMax);
}

nanoseconds think_time_until(SessionTime at, const Timings& timings,
                             std::optional<nanoseconds> round_trip) {
  auto const waited = time_between(timings.request_sent, at);
  return std::max(nanoseconds(), waited - round_trip.value_or(nanoseconds()));
}

std::map<std::string, LookupTimes, std::less<>> lookup_times(const ArchiveReader& archive,
                                                             std::uint32_t session) {
  std::map<std::string, HostQueries, std::less<>> queries;
  for (const DnsAnswer& answer : archive.answers()) {
    if (answer.session != session) continue;
    auto& of_host = queries[answer.host];
    if (answer.asked != kNoTime && answer.answered != kNoTime) of_host.add(answer);
  }
  std::map<std::string, LookupTimes, std::less<>> times;
  for (const ConnectionFacts& facts : archive.connections()) {
    bool const known = facts.dns_start != kNoTime && facts.connect_start >= facts.dns_start;
    if (facts.session != session || !known || queries.contains(facts.host)) continue;
    auto const waited = time_between(facts.dns_start, facts.connect_start);
    auto& of_host = times[facts.host];
    auto const longest = std::max(of_host.a, waited);
    of_host = {.a = longest, .aaaa = longest, .https = longest};
  }
  for (auto const& [host, of_host] : queries) {
    if (auto const known = of_host.times()) times.emplace(host, *known);
  }
  return times;
}

std::optional<nanoseconds> round_trip_of(const ConnectionFacts& facts) {
  auto const possible = [](nanoseconds time) {
    return time >= nanoseconds() && time < kThinkTimeMax;
  };
  if (facts.round_trip && possible(*facts.round_trip)) return facts.round_trip;
  auto const connected = facts.tls_start == kNoTime ? facts.ready : facts.tls_start;
  bool const known = facts.connect_start != kNoTime && connected != kNoTime;
  // The difference of contradictory times may not even be representable.
  if (!known || facts.connect_start < SessionTime() || connected < facts.connect_start) {
    return std::nullopt;
  }
  auto const round_trip = connected - facts.connect_start;
  return possible(round_trip) ? std::optional(round_trip) : std::nullopt;
}

RoundTrips::RoundTrips(const ArchiveReader& archive) {
  auto const keep_least = [](auto& least, const std::string& of, nanoseconds round_trip) {
    auto const [at, added] = least.emplace(of, round_trip);
    if (!added) at->second = std::min(at->second, round_trip);
  };
  for (const ConnectionFacts& facts : archive.connections()) {
    if (facts.address.empty()) continue;
    Session& session = sessions_[facts.session];
    auto const address = facts.address.substr(0, facts.address.rfind(':'));
    session.addresses.emplace(facts.id, address);
    auto const round_trip = round_trip_of(facts);
    if (!round_trip) continue;
    keep_least(session.to_address, address, *round_trip);
    keep_least(session.to_host, facts.host, *round_trip);
    session.least = std::min(session.least.value_or(*round_trip), *round_trip);
  }
}

std::optional<nanoseconds> RoundTrips::to_origin_of(const Exchange& exchange) const {
  auto const session = sessions_.find(exchange.session);
  if (session == sessions_.end()) return std::nullopt;
  auto const& [addresses, to_address, to_host, least] = session->second;
  auto const address = addresses.find(exchange.origin_connection_id);
  if (address != addresses.end()) {
    auto const known = to_address.find(address->second);
    if (known != to_address.end()) return known->second;
  }
  auto const known = to_host.find(exchange.request.host);
  return known != to_host.end() ? std::optional(known->second) : least;
}

std::chrono::nanoseconds pauses_of(const Exchange& exchange,
                                   std::optional<std::chrono::nanoseconds> round_trip) {
  auto const& chunks = exchange.response.chunk_times;
  auto const head = exchange.timings.first_byte;
  bool const timed = head != kNoTime && !chunks.empty() &&
                     std::ranges::find(chunks, kNoTime, &ChunkTime::time) == chunks.end();
  if (exchange.outcome != Outcome::kComplete || !timed) return {};
  BodyPauses pauses(round_trip);
  std::chrono::nanoseconds before{};
  std::uint64_t sent_bytes = 0;
  auto const arrived = [&](std::uint64_t end_bytes, SessionTime at) {
    auto const after_head = std::max(before, time_between(head, at));
    pauses.add(after_head - before, sent_bytes);
    before = after_head;
    sent_bytes = std::max(sent_bytes, end_bytes);
  };
  auto const size = exchange.response.timed_size_bytes();
  for (const ChunkTime& chunk : chunks) arrived(std::min(chunk.end_bytes, size), chunk.time);
  arrived(size, exchange.timings.end);
  return pauses.total();
}

}  // namespace reprise
