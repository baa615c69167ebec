// Sessions, connections and DNS answers; codec.cc has exchanges.

#include "archive/archive.pb.h"
#include "archive/codec_parts.h"
#include "archive/error.h"

namespace reprise {

using namespace codec;

Result<std::string> encode_connection(const ConnectionFacts& facts) {
  pb::Connection out;
  if (facts.certificate_names.size() > kStringsMax) return fail(archive_errc::too_large);
  out.set_id(facts.id);
  out.set_session(facts.session);
  out.set_scheme(static_cast<std::uint32_t>(facts.scheme));
  out.set_host(facts.host);
  out.set_port(facts.port);
  out.set_address(facts.address);
  out.set_alpn(facts.alpn);
  out.set_tls_version(facts.tls_version);
  out.set_cipher(facts.cipher);
  for (const auto& name : facts.certificate_names) out.add_certificate_names(name);
  out.set_chain_bytes(facts.chain_bytes);
  put_digest(facts.chain_digest, *out.mutable_chain_digest());
  put_time(facts.dns_start, [&](std::int64_t ns) { out.set_dns_start_ns(ns); });
  put_time(facts.connect_start, [&](std::int64_t ns) { out.set_connect_start_ns(ns); });
  put_time(facts.tls_start, [&](std::int64_t ns) { out.set_tls_start_ns(ns); });
  put_time(facts.ready, [&](std::int64_t ns) { out.set_ready_ns(ns); });
  if (facts.round_trip) out.set_round_trip_ns(facts.round_trip->count());
  out.set_failure(facts.failure);
  return serialize(out);
}

std::optional<ConnectionFacts> decode_connection(Bytes payload) {
  pb::Connection in;
  if (!parse(payload, in)) return std::nullopt;
  ConnectionFacts out;
  out.id = in.id();
  out.session = in.session();
  out.host = in.host();
  out.address = in.address();
  out.alpn = in.alpn();
  out.tls_version = in.tls_version();
  out.cipher = in.cipher();
  out.certificate_names.assign(in.certificate_names().begin(), in.certificate_names().end());
  out.chain_bytes = in.chain_bytes();
  out.dns_start = get_time(in.has_dns_start_ns(), in.dns_start_ns());
  out.connect_start = get_time(in.has_connect_start_ns(), in.connect_start_ns());
  out.tls_start = get_time(in.has_tls_start_ns(), in.tls_start_ns());
  out.ready = get_time(in.has_ready_ns(), in.ready_ns());
  if (in.has_round_trip_ns()) out.round_trip = std::chrono::nanoseconds(in.round_trip_ns());
  out.failure = in.failure();
  if (!get_number(in.scheme(), Scheme::kHttp, Scheme::kHttps, out.scheme) ||
      !get_u16(in.port(), out.port) || !get_digest(in.chain_digest(), out.chain_digest) ||
      out.certificate_names.size() > kStringsMax) {
    return std::nullopt;
  }
  return out;
}

Result<std::string> encode_dns_answer(const DnsAnswer& answer) {
  pb::DnsAnswer out;
  for (auto const* const list : {&answer.chain, &answer.addresses, &answer.https}) {
    if (list->size() > kDnsRecordsMax) return fail(archive_errc::too_large);
  }
  out.set_session(answer.session);
  out.set_host(answer.host);
  out.set_type(answer.type);
  if (answer.rcode) out.set_rcode(*answer.rcode);
  out.set_failure(answer.failure);
  for (const auto& link : answer.chain) out.add_chain(link);
  for (const auto& address : answer.addresses) out.add_addresses(address);
  for (const auto& record : answer.https) out.add_https(record);
  out.set_ttl_s(answer.ttl_s);
  put_time(answer.asked, [&](std::int64_t ns) { out.set_asked_ns(ns); });
  put_time(answer.answered, [&](std::int64_t ns) { out.set_answered_ns(ns); });
  return serialize(out);
}

std::optional<DnsAnswer> decode_dns_answer(Bytes payload) {
  pb::DnsAnswer in;
  if (!parse(payload, in)) return std::nullopt;
  for (auto const* const list : {&in.chain(), &in.addresses(), &in.https()}) {
    if (static_cast<std::size_t>(list->size()) > kDnsRecordsMax) return std::nullopt;
  }
  DnsAnswer out;
  out.session = in.session();
  out.host = in.host();
  out.failure = in.failure();
  out.chain.assign(in.chain().begin(), in.chain().end());
  out.addresses.assign(in.addresses().begin(), in.addresses().end());
  out.https.assign(in.https().begin(), in.https().end());
  out.ttl_s = in.ttl_s();
  out.asked = get_time(in.has_asked_ns(), in.asked_ns());
  out.answered = get_time(in.has_answered_ns(), in.answered_ns());
  std::uint16_t rcode = 0;
  if (!get_u16(in.type(), out.type) || !get_u16(in.rcode(), rcode)) return std::nullopt;
  if (in.has_rcode()) out.rcode = rcode;
  return out;
}

Result<std::string> encode_session_start(const SessionInfo& info) {
  pb::SessionStart out;
  if (info.command_line.size() > kStringsMax || info.pages.size() > kStringsMax) {
    return fail(archive_errc::too_large);
  }
  auto const since_epoch = info.started.time_since_epoch();
  out.set_number(info.number);
  out.set_started_unix_ns(std::chrono::nanoseconds(since_epoch).count());
  out.set_tool_version(info.tool_version);
  for (const auto& argument : info.command_line) out.add_command_line(argument);
  out.set_random_seed(info.random_seed);
  for (const auto& page : info.pages) out.add_pages(page);
  out.set_time_zone(info.time_zone);
  if (info.injected_clock) {
    out.mutable_injected_clock()->set_start_unix_ms(info.injected_clock->start.count());
    out.mutable_injected_clock()->set_mode(info.injected_clock->mode);
  }
  return serialize(out);
}

std::optional<SessionInfo> decode_session_start(Bytes payload) {
  pb::SessionStart in;
  if (!parse(payload, in) || in.number() == 0) return std::nullopt;
  using Clock = std::chrono::system_clock;
  SessionInfo out;
  out.number = in.number();
  out.started = Clock::time_point(
      std::chrono::duration_cast<Clock::duration>(std::chrono::nanoseconds(in.started_unix_ns())));
  out.tool_version = in.tool_version();
  out.command_line.assign(in.command_line().begin(), in.command_line().end());
  out.random_seed = in.random_seed();
  out.pages.assign(in.pages().begin(), in.pages().end());
  out.time_zone = in.time_zone();
  if (in.has_injected_clock()) {
    out.injected_clock = {.start = std::chrono::milliseconds(in.injected_clock().start_unix_ms()),
                          .mode = in.injected_clock().mode()};
  }
  return out;
}

std::string encode_session_end(std::uint32_t session) {
  pb::SessionEnd out;
  out.set_number(session);
  return out.SerializeAsString();
}

std::optional<std::uint32_t> decode_session_end(Bytes payload) {
  pb::SessionEnd in;
  if (!parse(payload, in)) return std::nullopt;
  return in.number();
}

}  // namespace reprise
