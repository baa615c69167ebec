#include "analysis/differences/recorded_page.h"

#include <algorithm>

#include "analysis/differences/permissions.h"
#include "archive/think_time.h"
#include "base/bytes.h"
#include "base/coding/coding.h"
#include "base/http/media_type.h"

namespace reprise {
namespace {

std::string without_port(const std::string& address) {
  return address.substr(0, address.rfind(':'));
}

HttpVersion version_of(const Exchange& exchange) {
  auto const version = exchange.response.version;
  return version == HttpVersion::kUnknown ? exchange.request.version : version;
}

/// What a replay speaks for it: an HTTP/3 host speaks what it spoke before.
std::string protocol_of(const Exchange& exchange) {
  if (exchange.request.scheme != Scheme::kHttps) return "";
  auto const version = version_of(exchange);
  if (version == HttpVersion::kH2) return "h2";
  bool const is_h1 = version == HttpVersion::kHttp10 || version == HttpVersion::kHttp11;
  return is_h1 ? "http/1.1" : "";
}

/// Of hosts whose connections do not tell, as a replay decides (proxy/replay/tls_plans.cc): that of
/// the first exchange in the file that has one, else HTTP/2 if there is HTTP/3.
void add_protocols(RecordedPage& page, const std::set<std::string>& h3_hosts) {
  std::vector<const RecordedExchange*> in_file;
  for (const RecordedExchange& each : page.exchanges) in_file.push_back(&each);
  std::ranges::sort(in_file, {}, &RecordedExchange::ordinal);
  for (auto const* const each : in_file) {
    if (!each->origin.starts_with("https:") || each->outcome == Outcome::kOriginFailed) continue;
    auto& protocol = page.hosts[each->host].protocol;
    if (protocol.empty()) protocol = each->protocol;
  }
  for (const std::string& host : h3_hosts) {
    auto& protocol = page.hosts[host].protocol;
    if (protocol.empty()) protocol = "h2";
  }
}

RecordedExchange recorded(const Exchange& exchange, std::uint32_t ordinal,
                          const RoundTrips& round_trips) {
  auto const& asked = exchange.request;
  auto const& reply = exchange.response;
  RecordedExchange made{
      .ordinal = ordinal,
      .method = asked.method,
      .origin = std::string(asked.scheme == Scheme::kHttps ? "https://" : "http://") +
                authority_of(asked.scheme, asked.host, asked.port),
      .host = asked.host,
      .target = asked.target,
      .referer = std::string(find_header(asked.headers.list(), "referer").value_or("")),
      .range = std::string(find_header(asked.headers.list(), "range").value_or("")),
      .request_digest = asked.body.digest,
      .protocol = protocol_of(exchange),
      .status = reply.status,
      .outcome = exchange.outcome,
      .media_type = media_type(reply.headers.list()),
      .headers = reply.headers,
      .hints = {},
      .digest = reply.body.digest,
      .size_bytes = reply.body.size_bytes,
      .think = {},
      .pauses = pauses_of(exchange, round_trips.to_origin_of(exchange))};
  std::vector<HeaderView> hints;
  for (auto const& interim : exchange.interim) {
    for (auto const& field : interim.headers.list()) {
      if (equals_ignoring_case(field.name, "link")) hints.push_back(field);
    }
  }
  made.hints = Headers(hints);
  if (exchange.timings.first_byte != kNoTime && exchange.timings.request_sent != kNoTime) {
    made.think = think_time_until(exchange.timings.first_byte, exchange.timings,
                                  round_trips.to_origin_of(exchange));
  }
  return made;
}

std::optional<std::string> plain_body(const ArchiveReader& archive, const RecordedExchange& of) {
  if (of.outcome != Outcome::kComplete || of.size_bytes > kComparedBytesMax) return std::nullopt;
  auto const exchange = archive.exchange(of.ordinal);
  if (!exchange) return std::nullopt;
  auto const body = archive.read_body(exchange->response.body, kComparedBytesMax);
  auto codings = coding::codings_of(exchange->response.headers.list());
  if (!body || !codings) return std::nullopt;
  auto const plain = coding::decode_whole(*codings, *body, {.bytes_max = kComparedBytesMax});
  if (!plain) return std::nullopt;
  return std::string(text_of(*plain));
}

std::vector<std::string> wire_digests(const ArchiveReader& archive, const RecordedExchange& of) {
  // Browsers leave a body as it is if they do not know its coding.
  auto const codings = coding::codings_of(of.headers.list());
  bool const is_coded = codings && !codings->empty();
  if (of.outcome != Outcome::kComplete || is_coded) return {};
  auto const exchange = archive.exchange(of.ordinal);
  if (!exchange) return {};
  auto const& body = exchange->response.body;
  CodeDigester digester;
  auto left_bytes = of.size_bytes;
  for (std::size_t i = 0; i < body.extents.size(); ++i) {
    auto const piece = archive.extent(body, i);
    if (!piece || piece->size() > left_bytes) return {};
    digester.update(*piece);
    left_bytes -= piece->size();
  }
  return left_bytes == 0 ? digester.finish() : std::vector<std::string>();
}

}  // namespace

RecordedPage RecordedPage::read(const ArchiveReader& archive, std::uint32_t session) {
  RecordedPage page;
  RoundTrips const round_trips(archive);
  std::set<std::string> h3_hosts;
  for (auto const ordinal : archive.ordinals_in_order()) {
    if (archive.entries()[ordinal].session != session) continue;
    if (auto const exchange = archive.exchange(ordinal)) {
      page.exchanges.push_back(recorded(*exchange, ordinal, round_trips));
      bool const is_h3 = version_of(*exchange) == HttpVersion::kH3;
      if (is_h3 && exchange->outcome != Outcome::kOriginFailed) {
        h3_hosts.insert(exchange->request.host);
      }
    }
  }
  for (const ConnectionFacts& facts : archive.connections()) {
    if (facts.session != session || facts.address.empty()) continue;
    bool const is_h1 = facts.alpn.empty() && facts.chain_bytes > 0;
    RecordedHost const host{.protocol = is_h1 ? "http/1.1" : facts.alpn,
                            .chain_bytes = facts.chain_bytes,
                            .address = without_port(facts.address),
                            .resolved_in = {}};
    auto const [known, is_new] = page.hosts.try_emplace(facts.host, host);
    if (!is_new && known->second.chain_bytes == 0) known->second = host;
  }
  add_protocols(page, h3_hosts);
  for (auto const& [host, took] : lookup_times(archive, session)) {
    if (auto const known = page.hosts.find(host); known != page.hosts.end()) {
      known->second.resolved_in = took.of_addresses();
    }
  }
  return page;
}

PageBodies bodies_of(const ArchiveReader& archive) {
  return {
      .plain = [&archive](const RecordedExchange& of) { return plain_body(archive, of); },
      .wire_digests = [&archive](const RecordedExchange& of) { return wire_digests(archive, of); }};
}

}  // namespace reprise
