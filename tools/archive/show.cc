#include <algorithm>
#include <boost/json.hpp>
#include <cstdio>
#include <optional>

#include "base/http/digest.h"
#include "base/text/counted.h"
#include "base/text/printable.h"
#include "tools/archive/messages.h"
#include "tools/archive/text.h"
#include "tools/archive/views.h"
#include "tools/commands.h"

namespace reprise {
namespace {

namespace json = boost::json;

const ConnectionFacts* connection_of(const OpenArchive& archive, const Exchange& exchange) {
  auto const& connections = archive.reader->connections();
  auto const found = std::ranges::find_if(connections, [&](const ConnectionFacts& facts) {
    return facts.session == exchange.session && facts.id == exchange.origin_connection_id;
  });
  return found == connections.end() ? nullptr : &*found;
}

void print_fields(char mark, HeaderList fields) {
  for (const HeaderView& field : fields) {
    std::printf("%c %s: %s\n", mark, printable(field.name).c_str(), printable(field.value).c_str());
  }
}

void print_body(char mark, const StoredBody& body, const Headers& trailers) {
  std::printf("%c\n", mark);
  if (body.size_bytes > 0) {
    std::printf("%c [%s, sha256 %s]\n", mark, counted(body.size_bytes, "byte").c_str(),
                hex(body.digest).c_str());
  }
  print_fields(mark, trailers.list());
}

void print_heads(const Exchange& exchange) {
  auto const& request = exchange.request;
  std::printf("\n> %s %s %s\n", printable(request.method).c_str(),
              printable(request.target).c_str(), std::string(to_string(request.version)).c_str());
  print_fields('>', request.headers.list());
  print_body('>', request.body, request.trailers);
  for (auto const& interim : exchange.interim) {
    std::printf("\n< %u %s (at %s)\n", interim.status, printable(interim.reason).c_str(),
                milliseconds(interim.time).c_str());
    print_fields('<', interim.headers.list());
  }
  auto const& response = exchange.response;
  if (response.status == 0) return;
  std::printf("\n< %s %u %s\n", std::string(to_string(response.version)).c_str(), response.status,
              printable(response.reason).c_str());
  print_fields('<', response.headers.list());
  print_body('<', response.body, response.trailers);
}

void print_connection(const ConnectionFacts& facts) {
  auto const text = [](const std::string& value) {
    return value.empty() ? std::string("-") : printable(value);
  };
  std::printf("\nconnection %llu to %s\n", static_cast<unsigned long long>(facts.id),
              text(facts.address).c_str());
  std::printf("  for            %s://%s:%u\n", std::string(to_string(facts.scheme)).c_str(),
              printable(facts.host).c_str(), facts.port);
  if (facts.scheme == Scheme::kHttps) {
    std::printf("  tls            %s, %s, alpn %s\n", text(facts.tls_version).c_str(),
                text(facts.cipher).c_str(), text(facts.alpn).c_str());
    std::printf("  certificate    %u bytes in its chain, names:", facts.chain_bytes);
    for (auto const& name : facts.certificate_names) std::printf(" %s", printable(name).c_str());
    std::printf("\n");
  }
  std::printf(
      "  dns start      %s\n  connect start  %s\n  tls start      %s\n  ready          %s\n",
      milliseconds(facts.dns_start).c_str(), milliseconds(facts.connect_start).c_str(),
      milliseconds(facts.tls_start).c_str(), milliseconds(facts.ready).c_str());
  if (facts.round_trip) {
    std::printf("  round trip     %s\n", milliseconds(*facts.round_trip).c_str());
  }
  if (!facts.failure.empty())
    std::printf("  failure        %s\n", printable(facts.failure).c_str());
}

/// The DNS answers for an exchange's host, in its session.
std::vector<const DnsAnswer*> answers_on(const OpenArchive& archive, const Exchange& exchange) {
  std::vector<const DnsAnswer*> answers;
  for (const DnsAnswer& answer : archive.reader->answers()) {
    if (answer.session == exchange.session && answer.host == exchange.request.host) {
      answers.push_back(&answer);
    }
  }
  return answers;
}

void print_answer(const DnsAnswer& answer) {
  std::printf("\nDNS %s %s\n", dns_type_name(answer.type).c_str(), printable(answer.host).c_str());
  std::printf("  answer         %s%s\n",
              answer.rcode ? ("rcode " + std::to_string(*answer.rcode)).c_str() : "none",
              answer.failure.empty() ? "" : (", " + printable(answer.failure)).c_str());
  for (auto const& name : answer.chain)
    std::printf("  cname          %s\n", printable(name).c_str());
  for (auto const& address : answer.addresses) {
    std::printf("  address        %s\n", printable(address).c_str());
  }
  if (!answer.https.empty()) std::printf("  https records  %zu\n", answer.https.size());
  std::printf("  ttl            %u s\n  asked          %s\n  answered       %s\n", answer.ttl_s,
              milliseconds(answer.asked).c_str(), milliseconds(answer.answered).c_str());
}

void print_exchange(const OpenArchive& archive, const Exchange& exchange, std::size_t number) {
  std::printf("%s %s\n", printable(exchange.request.method).c_str(),
              printable(url_of(exchange.request)).c_str());
  std::printf("exchange %zu: session %u, request %llu, %s\n", number, exchange.session,
              static_cast<unsigned long long>(exchange.sequence),
              std::string(to_string(exchange.outcome)).c_str());
  if (!exchange.failure.empty()) std::printf("%s\n", printable(exchange.failure).c_str());
  print_heads(exchange);
  print_messages(*archive.reader, {exchange.session, exchange.sequence});
  auto const& timings = exchange.timings;
  std::printf("\ntimings, since the session's start\n");
  std::printf(
      "  queued         %s\n  request sent   %s\n  first byte     %s\n  end            %s\n",
      milliseconds(timings.queued).c_str(), milliseconds(timings.request_sent).c_str(),
      milliseconds(timings.first_byte).c_str(), milliseconds(timings.end).c_str());
  std::printf("  chunks         %zu\n", exchange.response.chunk_times.size());
  std::printf("\nclient connection %llu, stream %llu\n",
              static_cast<unsigned long long>(exchange.client_connection_id),
              static_cast<unsigned long long>(exchange.stream_id));
  if (auto const* facts = connection_of(archive, exchange)) print_connection(*facts);
  for (const DnsAnswer* answer : answers_on(archive, exchange)) print_answer(*answer);
}

json::value time_value(SessionTime time) {
  return time == kNoTime ? json::value() : json::value(time.count());
}

json::array fields_value(const Headers& headers) {
  json::array fields;
  for (const HeaderView& field : headers.list()) {
    fields.push_back(json::array{as_utf8(field.name), as_utf8(field.value)});
  }
  return fields;
}

json::object body_value(const StoredBody& body) {
  return {{"size_bytes", body.size_bytes},
          {"sha256", body.size_bytes > 0 ? json::value(hex(body.digest)) : json::value()}};
}

json::object request_value(const StoredRequest& request) {
  return {{"method", as_utf8(request.method)},
          {"url", as_utf8(url_of(request))},
          {"target", as_utf8(request.target)},
          {"version", std::string(to_string(request.version))},
          {"protocol", as_utf8(request.protocol)},
          {"headers", fields_value(request.headers)},
          {"trailers", fields_value(request.trailers)},
          {"body", body_value(request.body)}};
}

json::object response_value(const StoredReply& response) {
  json::array chunks;
  for (auto const& chunk : response.chunk_times) {
    chunks.push_back(json::object{{"end_bytes", chunk.end_bytes}, {"ns", time_value(chunk.time)}});
  }
  return {{"status", response.status},
          {"reason", as_utf8(response.reason)},
          {"version", std::string(to_string(response.version))},
          {"headers", fields_value(response.headers)},
          {"trailers", fields_value(response.trailers)},
          {"body", body_value(response.body)},
          {"chunks", std::move(chunks)},
          {"timed_bytes", response.timed_size_bytes()}};
}

json::value connection_value(const ConnectionFacts* facts) {
  if (facts == nullptr) return {};
  json::array names;
  for (auto const& name : facts->certificate_names) names.emplace_back(as_utf8(name));
  return json::object{{"id", facts->id},
                      {"scheme", std::string(to_string(facts->scheme))},
                      {"host", as_utf8(facts->host)},
                      {"port", facts->port},
                      {"address", as_utf8(facts->address)},
                      {"alpn", as_utf8(facts->alpn)},
                      {"tls_version", as_utf8(facts->tls_version)},
                      {"cipher", as_utf8(facts->cipher)},
                      {"certificate_names", std::move(names)},
                      {"chain_bytes", facts->chain_bytes},
                      {"dns_start_ns", time_value(facts->dns_start)},
                      {"connect_start_ns", time_value(facts->connect_start)},
                      {"tls_start_ns", time_value(facts->tls_start)},
                      {"ready_ns", time_value(facts->ready)},
                      {"round_trip_ns",
                       facts->round_trip ? json::value(facts->round_trip->count()) : json::value()},
                      {"failure", as_utf8(facts->failure)}};
}

json::object answer_value(const DnsAnswer& answer) {
  auto const texts = [](const std::vector<std::string>& from) {
    json::array list;
    for (auto const& text : from) list.emplace_back(as_utf8(text));
    return list;
  };
  return {{"host", as_utf8(answer.host)},
          {"type", dns_type_name(answer.type)},
          {"rcode", answer.rcode ? json::value(*answer.rcode) : json::value()},
          {"failure", as_utf8(answer.failure)},
          {"cnames", texts(answer.chain)},
          {"addresses", texts(answer.addresses)},
          {"https_records", answer.https.size()},
          {"ttl_s", answer.ttl_s},
          {"asked_ns", time_value(answer.asked)},
          {"answered_ns", time_value(answer.answered)}};
}

json::object exchange_value(const OpenArchive& archive, const Exchange& exchange,
                            std::size_t number) {
  json::array interim;
  for (auto const& head : exchange.interim) {
    interim.push_back(json::object{{"status", head.status},
                                   {"reason", as_utf8(head.reason)},
                                   {"headers", fields_value(head.headers)},
                                   {"ns", time_value(head.time)}});
  }
  json::array answers;
  for (const DnsAnswer* answer : answers_on(archive, exchange)) {
    answers.push_back(answer_value(*answer));
  }
  auto const& timings = exchange.timings;
  return {{"number", number},
          {"session", exchange.session},
          {"sequence", exchange.sequence},
          {"outcome", std::string(to_string(exchange.outcome))},
          {"failure", as_utf8(exchange.failure)},
          {"client_connection_id", exchange.client_connection_id},
          {"stream_id", exchange.stream_id},
          {"request", request_value(exchange.request)},
          {"interim", std::move(interim)},
          {"response", response_value(exchange.response)},
          {"timings", json::object{{"queued_ns", time_value(timings.queued)},
                                   {"request_sent_ns", time_value(timings.request_sent)},
                                   {"first_byte_ns", time_value(timings.first_byte)},
                                   {"end_ns", time_value(timings.end)}}},
          {"messages", messages_json(*archive.reader, {exchange.session, exchange.sequence})},
          {"connection", connection_value(connection_of(archive, exchange))},
          {"dns_answers", std::move(answers)}};
}

}  // namespace

std::expected<NumberedExchange, int> exchange_at(const OpenArchive& archive, std::size_t number) {
  auto const ordinals = archive.reader->ordinals_in_order();
  if (number < 1 || number > ordinals.size()) {
    std::fprintf(stderr,
                 "reprise: %s: no exchange %zu: the archive has %zu. Run `reprise archive ls` to "
                 "list them\n",
                 archive.path.c_str(), number, ordinals.size());
    return std::unexpected(kExitUsage);
  }
  auto const ordinal = ordinals[number - 1];
  auto exchange = archive.reader->exchange(ordinal);
  if (exchange) return NumberedExchange{.ordinal = ordinal, .exchange = std::move(*exchange)};
  report_damaged(archive, number);
  return std::unexpected(kExitArchive);
}

void report_damaged(const OpenArchive& archive, std::size_t number) {
  std::fprintf(stderr,
               "reprise: %s: exchange %zu is damaged. Run `reprise archive verify` for details, "
               "`reprise archive repair` to keep the undamaged exchanges\n",
               archive.path.c_str(), number);
}

int show_exchange(const OpenArchive& archive, std::size_t number, bool as_json) {
  auto const found = exchange_at(archive, number);
  if (!found) return found.error();
  if (as_json) {
    std::printf("%s\n", json::serialize(exchange_value(archive, found->exchange, number)).c_str());
  } else {
    print_exchange(archive, found->exchange, number);
  }
  return kExitDone;
}

}  // namespace reprise
