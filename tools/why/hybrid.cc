#include "tools/why/hybrid.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "archive/copy.h"
#include "archive/edit/retime.h"
#include "archive/think_time.h"
#include "archive/writer.h"
#include "tools/serve/h3_offers.h"
#include "tools/why/hybrid_response.h"

namespace reprise {
namespace {

using Status = std::expected<void, std::string>;

template <class T>
Status checked(const Result<T>& result) {
  if (result) return {};
  return std::unexpected("it cannot be written: " + result.error().message());
}

SessionContents contents_of_session(const ComparedArchive& of) {
  for (SessionContents& each : contents_of(of.reader)) {
    if (each.info.number == of.session) return std::move(each);
  }
  return {};
}

class Writing {
 public:
  Writing(const ComparedArchive& a, const ComparedArchive& b, const Differences& differences,
          const std::vector<bool>& groups, ArchiveWriter& to)
      : a_(a),
        b_(b),
        differences_(differences),
        to_(to),
        contents_a_(contents_of_session(a)),
        contents_b_(contents_of_session(b)),
        round_trips_a_(a.reader),
        round_trips_b_(b.reader),
        lookup_times_b_(lookup_times(b.reader, b.session)) {
    for (const PageDifference& each : differences.all) {
      if (groups[each.group] && each.can_be_put_in()) take(each);
    }
    for (const H3Offer& each : h3_offers(a.reader, a.session)) {
      if (each.by_header || each.by_record) offering_hosts_.insert(each.host);
      if (each.by_import) h3_hosts_.insert(each.host);
    }
  }

  Status run() {
    if (auto begun = checked(to_.begin_session(contents_a_.info)); !begun) return begun;
    if (auto done = write_facts(); !done) return done;
    std::map<std::uint32_t, std::size_t> pair_of;
    for (std::size_t i = 0; i < differences_.alignment.pairs.size(); ++i) {
      pair_of[differences_.a.exchanges[differences_.alignment.pairs[i].a].ordinal] = i;
    }
    for (auto const ordinal : contents_a_.ordinals) {
      auto exchange = a_.reader.exchange(ordinal);
      if (!exchange) continue;  // damaged: A does not serve it either
      next_sequence_ = std::max(next_sequence_, exchange->sequence + 1);
    }
    for (auto const ordinal : contents_a_.ordinals) {
      auto exchange = a_.reader.exchange(ordinal);
      if (!exchange) continue;
      auto const pair = pair_of.find(ordinal);
      auto const done = pair == pair_of.end() ? carry(*exchange, a_, exchange->sequence)
                                              : write_pair(*exchange, pair->second);
      if (!done) return done;
    }
    for (auto const i : differences_.alignment.only_b) {
      auto exchange = b_.reader.exchange(differences_.b.exchanges[i].ordinal);
      if (!exchange) continue;
      if (auto done = write_of_b(*exchange); !done) return done;
    }
    if (auto ended = checked(to_.end_session()); !ended) return ended;
    return checked(to_.close());
  }

 private:
  void take(const PageDifference& each) {
    switch (each.kind) {
      case DifferenceKind::kThinkTime:
        thinking_hosts_.insert(each.host);
        return;
      case DifferenceKind::kChain:
      case DifferenceKind::kProtocol:
      case DifferenceKind::kCoalescing:
      case DifferenceKind::kNameResolution:
        of_hosts_[each.host].insert(each.kind);
        return;
      default:
        break;
    }
    auto& parts = parts_[*each.pair];
    auto const document = differences_.documents.find(*each.pair);
    bool const together = document != differences_.documents.end();
    switch (each.kind) {
      case DifferenceKind::kStatus:
      case DifferenceKind::kRedirect:
        parts.reply = true;
        break;
      case DifferenceKind::kContent:
        parts.body = parts.body || !together;
        if (!together) break;
        parts.edits = &document->second;
        parts.taken_edits.resize(document->second.size());
        for (auto const edit : each.edits) parts.taken_edits[edit] = true;
        break;
      case DifferenceKind::kCoding:
        (together ? parts.coding : parts.body) = true;
        break;
      default:
        parts.fields.push_back(each.kind);
    }
  }

  bool takes(const std::string& host, DifferenceKind kind) const {
    auto const found = of_hosts_.find(host);
    return found != of_hosts_.end() && found->second.contains(kind);
  }

  /// That a host speaks in this hybrid; empty if A does not tell.
  std::string protocol_of(const std::string& host) const {
    auto const& page = takes(host, DifferenceKind::kProtocol) ? differences_.b : differences_.a;
    auto const known = page.hosts.find(host);
    return known == page.hosts.end() ? std::string() : known->second.protocol;
  }

  const ConnectionFacts* connection_of_b(const std::string& host) const {
    const ConnectionFacts* found = nullptr;
    for (auto const* const facts : contents_b_.connections) {
      if (facts->host != host || facts->address.empty()) continue;
      if (found == nullptr || (found->chain_bytes == 0 && facts->chain_bytes > 0)) found = facts;
    }
    return found;
  }

  /// Where a host that A did not reach is: still with one that A reached and that B has there.
  std::string address_of(const ConnectionFacts& in_b) const {
    for (auto const* const other : contents_b_.connections) {
      if (other->address != in_b.address) continue;
      for (auto const* const facts : contents_a_.connections) {
        if (facts->host == other->host && !facts->address.empty()) return changed(*facts).address;
      }
    }
    return in_b.address;
  }

  Status write_facts() {
    std::uint64_t last_id = 0;
    for (auto const* const facts : contents_a_.connections) {
      last_id = std::max(last_id, facts->id);
      // Connections of imports may have neither address nor times, and never a failure.
      bool const reached =
          facts->failure.empty() || !facts->address.empty() || facts->ready != kNoTime;
      if (reached) connection_of_host_.try_emplace(facts->host, facts->id);
      if (auto added = checked(to_.add_connection(changed(*facts))); !added) return added;
    }
    for (auto const* const facts : contents_b_.connections) {
      if (connection_of_host_.contains(facts->host)) continue;
      auto moved = *facts;
      moved.id += last_id;
      auto const protocol = protocol_of(facts->host);
      if (!protocol.empty() && facts->scheme == Scheme::kHttps) moved.alpn = protocol;
      if (!moved.address.empty()) moved.address = address_of(*facts);
      id_of_b_[facts->id] = moved.id;
      if (auto added = checked(to_.add_connection(std::move(moved))); !added) return added;
    }
    return write_answers();
  }

  /// Of a host that A could not look up, those of B count.
  Status write_answers() {
    std::set<std::string> answered;
    if (contents_a_.answers.empty()) {  // an import, whose connections tell
      for (auto const* const facts : contents_a_.connections) {
        bool const reached = connection_of_host_.contains(facts->host);
        if (reached && facts->dns_start != kNoTime) answered.insert(facts->host);
      }
    }
    for (auto const* const answer : contents_a_.answers) {
      bool const reached = connection_of_host_.contains(answer->host);
      if (reached || !answer->addresses.empty()) answered.insert(answer->host);
    }
    std::set<std::string> taken;
    for (auto const* const answer : contents_b_.answers) {
      if (answered.contains(answer->host)) continue;
      auto kept = *answer;
      if (differences_.a.hosts.contains(kept.host)) kept.https.clear();  // A has no such offers
      taken.insert(kept.host);
      if (auto added = checked(to_.add_answer(std::move(kept))); !added) return added;
    }
    for (auto const* const answer : contents_a_.answers) {
      if (taken.contains(answer->host)) continue;
      if (auto added = checked(to_.add_answer(changed(*answer))); !added) return added;
    }
    return {};
  }

  DnsAnswer changed(DnsAnswer answer) const {
    auto const took = lookup_times_b_.find(answer.host);
    if (answer.asked != kNoTime && answer.answered != kNoTime && took != lookup_times_b_.end() &&
        takes(answer.host, DifferenceKind::kNameResolution)) {
      auto const time = took->second.of(answer.type);
      answer.asked = std::min(answer.asked, SessionTime::max() - time);
      answer.answered = answer.asked + time;
    }
    return answer;
  }

  ConnectionFacts changed(ConnectionFacts facts) const {
    if (takes(facts.host, DifferenceKind::kProtocol)) facts.alpn = protocol_of(facts.host);
    auto const* const other = connection_of_b(facts.host);
    if (other == nullptr || facts.address.empty()) return facts;
    if (takes(facts.host, DifferenceKind::kChain)) {
      facts.chain_bytes = other->chain_bytes;
      facts.chain_digest = other->chain_digest;
    }
    auto const took = lookup_times_b_.find(facts.host);
    if (contents_a_.answers.empty() && facts.connect_start != kNoTime &&
        took != lookup_times_b_.end() && takes(facts.host, DifferenceKind::kNameResolution)) {
      auto const time = took->second.of_addresses();
      facts.dns_start = std::max(facts.connect_start, SessionTime::min() + time) - time;
    }
    if (takes(facts.host, DifferenceKind::kCoalescing)) {  // all that shared, or will, do so
      facts.address = other->address;
      facts.certificate_names = other->certificate_names;
    }
    return facts;
  }

  /// Of A and of B.
  std::pair<const RecordedExchange&, const RecordedExchange&> recorded(std::size_t pair) const {
    auto const& of = differences_.alignment.pairs[pair];
    return {differences_.a.exchanges[of.a], differences_.b.exchanges[of.b]};
  }

  /// Whether a replay would not find the one by the other's request.
  bool asks_otherwise(std::size_t pair) const {
    auto const& [a, b] = recorded(pair);
    return a.url() != b.url() || a.request_digest != b.request_digest || a.range != b.range;
  }

  bool pauses_otherwise(std::size_t pair) const {
    auto const& [a, b] = recorded(pair);
    bool const whole = a.outcome == Outcome::kComplete && b.outcome == Outcome::kComplete;
    return whole && a.pauses != b.pauses;
  }

  Status write_pair(const Exchange& in_a, std::size_t pair) {
    auto const ordinal = differences_.b.exchanges[differences_.alignment.pairs[pair].b].ordinal;
    auto const in_b = b_.reader.exchange(ordinal);
    if (!in_b) return carry(in_a, a_, in_a.sequence);
    auto const found = parts_.find(pair);
    auto const parts = found == parts_.end() ? TakenParts{} : found->second;
    auto made = put_together({in_a, a_.reader}, {*in_b, b_.reader}, parts, to_);
    if (!made && found == parts_.end()) return {};  // damaged: A does not serve it either
    if (!made) return std::unexpected(made.error());
    if (parts.reply) {
      if (in_a.response.status == 0) made->origin_connection_id = connection_for(*in_b);
      if (in_a.response.version == HttpVersion::kH3) made->response.version = HttpVersion::kH3;
      set_offers(*made, in_a.response.headers);
    }
    if (thinking_hosts_.contains(in_b->request.host)) {
      if (pauses_otherwise(pair)) take_pauses(*made, *in_b);
      set_think_time(*made, *in_b);
    }
    auto other_url = *made;
    bool const moved = asks_otherwise(pair);
    auto const& replying = parts.reply ? b_ : a_;  // with its messages
    MessageOwner const owner{.session = replying.session,
                             .sequence = parts.reply ? in_b->sequence : in_a.sequence};
    if (auto added = add(std::move(*made), owner, replying); !added || !moved) return added;
    auto const body = copy_body(b_.reader, in_b->request.body, to_);
    if (!body) return std::unexpected(url_of(in_b->request) + ": its request is damaged");
    other_url.request = in_b->request;
    other_url.request.body = *body;
    other_url.origin_connection_id = connection_for(*in_b);
    if (in_b->request.host != in_a.request.host) {
      other_url.response.version = in_b->response.version;
      take_offers(other_url, in_b->response.headers);
      set_offers(other_url, Headers());
    }
    other_url.sequence = next_sequence_++;
    return add(std::move(other_url), owner, replying);
  }

  /// A response of B offers HTTP/3 as the one of A does: if that has no offer, only on hosts that
  /// offer it in A, or that A did not reach.
  void set_offers(Exchange& made, const Headers& in_a) const {
    auto const& host = made.request.host;
    bool const may_offer = offering_hosts_.contains(host) || !differences_.a.hosts.contains(host);
    if (!may_offer || find_header(in_a.list(), "alt-svc")) take_offers(made, in_a);
  }

  void set_think_time(Exchange& made, const Exchange& in_b) const {
    if (in_b.timings.first_byte == kNoTime || in_b.timings.request_sent == kNoTime) return;
    auto const think =
        think_time_until(in_b.timings.first_byte, in_b.timings, round_trips_b_.to_origin_of(in_b));
    change_think_time(made, round_trips_a_.to_origin_of(made),
                      {.kind = ThinkTimeChange::Kind::kSet, .by = think});
  }

  std::uint64_t connection_for(const Exchange& in_b) const {
    auto const moved = id_of_b_.find(in_b.origin_connection_id);
    if (moved != id_of_b_.end()) return moved->second;
    auto const known = connection_of_host_.find(in_b.request.host);
    return known == connection_of_host_.end() ? 0 : known->second;
  }

  Status write_of_b(const Exchange& in_b) {
    auto exchange = in_b;
    exchange.session = a_.session;  // whose round trips count
    exchange.origin_connection_id = connection_for(in_b);
    if (!id_of_b_.contains(in_b.origin_connection_id)) set_think_time(exchange, in_b);
    set_offers(exchange, Headers());
    return carry(std::move(exchange), b_, next_sequence_++);
  }

  /// `sequence`: its number in the hybrid.
  Status carry(Exchange exchange, const ComparedArchive& of, std::uint64_t sequence) {
    MessageOwner const owner{.session = of.session, .sequence = exchange.sequence};
    exchange.sequence = sequence;
    for (auto* const body : {&exchange.request.body, &exchange.response.body}) {
      auto copied = copy_body(of.reader, *body, to_);
      if (!copied) return {};  // damaged: its archive does not serve it either
      *body = std::move(*copied);
    }
    return add(std::move(exchange), owner, of);
  }

  /// Where connections do not tell, a replay speaks the protocol of a host's first exchange: none
  /// may bring along that of the other archive. A WebSocket's version says how it was opened, and
  /// HTTP/3 in an import is an offer.
  void set_protocol(Exchange& exchange) const {
    auto const protocol = protocol_of(exchange.request.host);
    bool const is_https = exchange.request.scheme == Scheme::kHttps;
    if (!is_https || protocol.empty() || !exchange.request.protocol.empty()) return;
    bool const is_h1 = protocol.starts_with("http/");
    bool const keeps_h3 = h3_hosts_.contains(exchange.request.host) &&
                          !takes(exchange.request.host, DifferenceKind::kProtocol);
    for (auto* const version : {&exchange.request.version, &exchange.response.version}) {
      if (is_h1 && *version == HttpVersion::kHttp10) continue;
      if (keeps_h3 && *version == HttpVersion::kH3) continue;
      *version = is_h1 ? HttpVersion::kHttp11 : HttpVersion::kH2;
    }
  }

  /// With the host's protocol, and its WebSocket's messages.
  Status add(Exchange exchange, const MessageOwner& owner, const ComparedArchive& of) {
    auto const sequence = exchange.sequence;
    set_protocol(exchange);
    if (auto added = checked(to_.add_exchange(std::move(exchange))); !added) return added;
    for (auto const& place : of.reader.messages(owner)) {
      auto const message = of.reader.message(place);
      if (!message) continue;
      if (auto added = checked(to_.add_message(sequence, *message)); !added) return added;
    }
    return {};
  }

  ComparedArchive a_;
  ComparedArchive b_;
  const Differences& differences_;
  ArchiveWriter& to_;
  SessionContents contents_a_;
  SessionContents contents_b_;
  RoundTrips round_trips_a_;
  RoundTrips round_trips_b_;
  std::map<std::string, LookupTimes, std::less<>> lookup_times_b_;
  std::map<std::size_t, TakenParts> parts_;  // by pair
  std::set<std::string> thinking_hosts_;
  std::map<std::string, std::set<DifferenceKind>> of_hosts_;
  std::map<std::string, std::uint64_t> connection_of_host_;  // A's first that reached it
  std::map<std::uint64_t, std::uint64_t> id_of_b_;  // connections of hosts that A did not reach
  std::set<std::string> offering_hosts_;            // of A: clients find offers of HTTP/3 there
  std::set<std::string> h3_hosts_;                  // of A, an import: with exchanges over HTTP/3
  std::uint64_t next_sequence_ = 1;
};

}  // namespace

std::expected<void, std::string> HybridMaker::write(const std::vector<bool>& groups,
                                                    const std::filesystem::path& to) const {
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (groups[i] && !differences_.groups[i].can_be_put_in) {
      return std::unexpected("it cannot be put in: " + differences_.groups[i].title);
    }
  }
  auto writer = ArchiveWriter::create(to, {});
  if (!writer) return std::unexpected(to.string() + ": " + writer.error().message());
  return Writing(a_, b_, differences_, groups, **writer).run();
}

}  // namespace reprise
