#include "dns/responder.h"

#include <algorithm>
#include <cstddef>

#include "dns/error.h"
#include "dns/wire.h"

namespace reprise::dns {
namespace {

using Bytes = std::span<const std::uint8_t>;

/// localhost and all names below it. The comparison includes the length byte, so it matches a whole
/// label; a longer label that ends in the same bytes does not occur in practice.
bool is_localhost(std::string_view lowered_labels) {
  return lowered_labels.ends_with("\x09localhost");
}

/// The same labels in reverse order: those of a name begin with those of every name above it.
std::string labels_from_root(std::string_view labels) {
  std::string reversed(labels.size(), '\0');
  for (auto end = labels.size(); !labels.empty();) {
    auto const label = labels.substr(0, static_cast<std::uint8_t>(labels[0]) + 1u);
    end -= label.size();
    std::ranges::copy(label, reversed.begin() + static_cast<std::ptrdiff_t>(end));
    labels.remove_prefix(label.size());
  }
  return reversed;
}

Record soa_of_everything() {
  Soa const soa{.primary = Name::parse("reprise.invalid").value(),
                .mailbox = Name::parse("nobody.invalid").value(),
                .serial = 1,
                .refresh_s = 3600,
                .retry_s = 600,
                .expire_s = 86400,
                .minimum_s = Responder::kTtlSeconds};
  return {.name = {}, .type = Type::kSoa, .ttl_s = Responder::kTtlSeconds, .data = soa};
}

/// The start of every reply to this query.
Message reply_to(const Message& query) {
  Message reply;
  reply.id = query.id;
  reply.response = true;
  reply.opcode = query.opcode;
  reply.recursion_desired = query.recursion_desired;
  reply.checking_disabled = query.checking_disabled;
  return reply;
}

/// The readable part of a message that cannot be decoded.
Message header_of(Bytes query) {
  Message header;
  header.id = static_cast<std::uint16_t>(query[0] << 8 | query[1]);
  header.response = (query[2] & 0x80) != 0;
  header.opcode = static_cast<Opcode>(query[2] >> 3 & 0xf);
  header.recursion_desired = (query[2] & 0x01) != 0;
  header.checking_disabled = (query[3] & 0x10) != 0;
  return header;
}

/// Requests an action, such as a zone transfer.
bool is_action(Type type) {
  return type >= Type::kTkey && type <= Type::kMailA;
}

/// The response code for a query that gets no answer; kNoError for one that may.
Rcode objection_to(const Message& query) {
  if (query.questions.size() != 1 || !query.answers.empty() || !query.authorities.empty()) {
    return Rcode::kFormErr;
  }
  if (query.edns && query.edns->version != 0) return Rcode::kBadVers;
  auto const& question = query.questions.front();
  if (question.type == Type::kOpt) return Rcode::kFormErr;
  if (question.question_class != kClassIn || is_action(question.type)) return Rcode::kRefused;
  return Rcode::kNoError;
}

}  // namespace

Responder::Responder(const Zone& zone, const Options& options)
    : other_delay_(LookupTimes::all(zone.other_delays.all)), soa_(soa_of_everything()) {
  for (auto const& [host, delay] : zone.other_delays.by_name) {
    auto const name = Name::parse(host);
    if (name) other_delays_.try_emplace(std::string(name->lowered().labels()), delay);
  }
  localhost_ = {.v4 = {A{{127, 0, 0, 1}}}, .v6 = {Aaaa{{}}}};
  localhost_.v6[0].address.back() = 1;
  if (zone.catch_all) {
    catch_all_ = Entry{};
    if (zone.catch_all->is_v4()) {
      catch_all_->v4.push_back({zone.catch_all->to_v4().to_bytes()});
    } else {
      catch_all_->v6.push_back({zone.catch_all->to_v6().to_bytes()});
    }
  }
  for (const ZoneEntry& given : zone.entries) {
    auto const name = Name::parse(given.host);
    if (!name || !add(*name, {.entry = entries_.size()})) continue;
    Entry& entry = entries_.emplace_back();
    for (const auto& address : given.v4) entry.v4.push_back({address.to_bytes()});
    for (const auto& address : given.v6) entry.v6.push_back({address.to_bytes()});
    entry.v4.resize(std::min(entry.v4.size(), kAddressesMax));
    entry.v6.resize(std::min(entry.v6.size(), kAddressesMax));
    entry.https = given.https;
    entry.delay = given.delay;
    if (options.chains) entry.ttl_s = given.ttl_s.value_or(kTtlSeconds);
    for (const auto& link : given.chain) {
      auto target = Name::parse(link);
      if (!target) break;
      entry.chain.push_back(std::move(*target));
    }
  }
  // A name inside a chain gets the rest of the chain, unless it is a host itself.
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    auto& chain = entries_[i].chain;
    for (std::size_t link = 0; link < chain.size(); ++link) {
      add(chain[link], {.entry = i, .chain_begin = link + 1});
    }
    if (!options.chains) chain = std::vector<Name>();
  }
  if (catch_all_) return;
  from_root_.reserve(places_.size());
  for (const auto& known : places_) from_root_.push_back(labels_from_root(known.first));
  std::ranges::sort(from_root_);
}

bool Responder::is_above_a_name(std::string_view lowered_labels) const {
  auto const above = labels_from_root(lowered_labels);
  auto const first = std::ranges::lower_bound(from_root_, above);
  return first != from_root_.end() && first->starts_with(above);
}

bool Responder::add(const Name& name, const Place& place) {
  return places_.try_emplace(std::string(name.lowered().labels()), place).second;
}

Responder::Found Responder::find(const Name& lowered) const {
  auto const at = places_.find(lowered.labels());
  if (at != places_.end()) {
    const Entry& entry = entries_[at->second.entry];
    return {.entry = &entry, .chain_begin = at->second.chain_begin, .delay = entry.delay};
  }
  auto const other = other_delays_.find(lowered.labels());
  Found found{.entry = nullptr, .delay = other_delay_};
  if (other != other_delays_.end()) found.delay = other->second;
  if (is_localhost(lowered.labels())) {
    found.entry = &localhost_;
  } else if (catch_all_) {
    found.entry = &*catch_all_;
  } else if (is_above_a_name(lowered.labels())) {
    found.entry = &no_records_;
  }
  return found;
}

void Responder::answer_from(const Found& found, const Question& question, Message& reply) {
  const Entry& entry = *found.entry;
  Name owner = question.name;
  auto const put = [&](Type type, RecordData data) {
    reply.answers.push_back(
        {.name = owner, .type = type, .ttl_s = entry.ttl_s, .data = std::move(data)});
  };
  for (std::size_t i = found.chain_begin; i < entry.chain.size(); ++i) {
    put(Type::kCname, Target{entry.chain[i]});
    if (question.type == Type::kCname) return;
    owner = entry.chain[i];
  }
  if (question.type == Type::kA) {
    for (const A& address : entry.v4) put(Type::kA, address);
  } else if (question.type == Type::kAaaa) {
    for (const Aaaa& address : entry.v6) put(Type::kAaaa, address);
  } else if (question.type == Type::kHttps) {
    for (const Svcb& record : entry.https) put(Type::kHttps, record);
  }
}

std::chrono::nanoseconds Responder::answer(const Question& question, Message& reply) {
  reply.authoritative = true;
  auto const lowered = question.name.lowered();
  auto const found = find(lowered);
  if (found.entry != nullptr) {
    answer_from(found, question, reply);
  } else {
    reply.rcode = Rcode::kNxDomain;
    ++counts_.missing;
    auto const name = lowered.text();
    auto const at = counts_.missing_names.find(name);
    if (at != counts_.missing_names.end()) {
      ++at->second;
    } else if (counts_.missing_names.size() < kMissingNamesMax) {
      counts_.missing_names.emplace(name, 1);
    }
  }
  bool const has_data = !reply.answers.empty() && reply.answers.back().type == question.type;
  if (!has_data) reply.authorities = {soa_};
  return found.delay.of(static_cast<std::uint16_t>(question.type));
}

Responder::Reply Responder::respond(Bytes query, Transport transport, std::span<std::uint8_t> out) {
  auto const header = query.size() < kHeaderBytes ? Message{.response = true} : header_of(query);
  if (header.response) {
    ++counts_.dropped;
    return {};
  }
  ++counts_.queries;
  auto reply = reply_to(header);
  std::size_t room = transport == Transport::kTcp ? kMessageMax : kUdpMin;
  if (header.opcode != Opcode::kQuery) {
    reply.rcode = Rcode::kNotImp;
    return {.size_bytes = encode(reply, out).value_or(0)};
  }
  auto read = decode(query);
  if (!read) {
    ++counts_.malformed;
    reply.rcode = Rcode::kFormErr;
    return {.size_bytes = encode(reply, out).value_or(0)};
  }
  reply = reply_to(*read);
  if (read->edns) {
    reply.edns = Edns{.udp_size_bytes = kUdpMax, .dnssec_ok = read->edns->dnssec_ok};
    room = std::max<std::size_t>(room, std::min<std::size_t>(read->edns->udp_size_bytes, kUdpMax));
  }
  reply.rcode = objection_to(*read);
  if (reply.rcode == Rcode::kFormErr) ++counts_.malformed;
  if (read->questions.size() == 1) {
    reply.questions = std::move(read->questions);
    auto const type = reply.questions.front().type;
    ++counts_.by_type[static_cast<std::uint16_t>(type)];
    reply.recursion_available = reply.rcode != Rcode::kFormErr && !is_action(type);
  }
  std::chrono::nanoseconds delay{};
  if (reply.rcode == Rcode::kNoError) delay = answer(reply.questions.front(), reply);
  out = out.first(std::min(out.size(), room));
  if (auto const size = encode(reply, out)) return {.size_bytes = *size, .delay = delay};
  reply.answers.clear();
  reply.authorities.clear();
  if (transport == Transport::kTcp) {
    reply.rcode = Rcode::kServFail;  // the answer is too large for any client
  } else {
    reply.truncated = true;
    ++counts_.truncated;
  }
  return {.size_bytes = encode(reply, out).value_or(0), .delay = delay};
}

}  // namespace reprise::dns
