#include "tests/archive/archive_fixture.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>

namespace reprise {

using namespace std::chrono_literals;

std::span<const std::byte> as_bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}
std::string as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}
void write_file(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  ASSERT_TRUE(file.good()) << path;
}

std::string noise(std::size_t size, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::string bytes(size, '\0');
  for (std::size_t at = 0; at < size; at += sizeof(std::uint64_t)) {
    auto const word = random();
    std::memcpy(bytes.data() + at, &word, std::min(sizeof word, size - at));
  }
  return bytes;
}

std::unique_ptr<ArchiveWriter> create_archive(const std::filesystem::path& path) {
  auto writer = ArchiveWriter::create(path, {});
  if (!writer) throw std::system_error(writer.error());
  return std::move(*writer);
}
std::unique_ptr<ArchiveWriter> append_archive(const std::filesystem::path& path) {
  auto writer = ArchiveWriter::append(path, {});
  if (!writer) throw std::system_error(writer.error());
  return std::move(*writer);
}
std::unique_ptr<ArchiveReader> open_archive(const std::filesystem::path& path) {
  auto reader = ArchiveReader::open(path, {});
  if (!reader) throw std::system_error(reader.error());
  return std::move(*reader);
}

StoredBody store(ArchiveWriter& writer, std::string_view bytes) {
  BodyWriter body(writer);
  EXPECT_TRUE(body.append(as_bytes(bytes)));
  auto stored = body.finish();
  if (!stored) throw std::system_error(stored.error());
  return std::move(*stored);
}

StoredBody store_in_chunks(ArchiveWriter& writer, const std::vector<std::string_view>& chunks) {
  std::vector<BodyWriter> held;
  std::string const filler(ArchiveWriter::kSmallBodyBytesMax, 'x');
  for (std::size_t i = 0; i < ArchiveWriter::kHeldBodyBytesMax / filler.size(); ++i) {
    EXPECT_TRUE(held.emplace_back(writer).append(as_bytes(filler)));
  }
  BodyWriter body(writer);
  for (auto const chunk : chunks) EXPECT_TRUE(body.append(as_bytes(chunk)));
  auto stored = body.finish();
  if (!stored) throw std::system_error(stored.error());
  return std::move(*stored);
}

std::string load(const ArchiveReader& reader, const StoredBody& body) {
  auto const bytes = reader.read_body(body, body.size_bytes);
  if (!bytes) throw std::system_error(bytes.error());
  return as_text(*bytes);
}

SessionInfo a_session() {
  SessionInfo info;
  info.started = std::chrono::system_clock::time_point(1'700'000'000'123'456'789ns);
  info.tool_version = "0.1.0";
  info.command_line = {"reprise", "record", "-o", "a.reprise", ""};
  info.random_seed = 0xfedcba9876543210;
  info.pages = {"https://example.org/"};
  return info;
}

Exchange an_exchange(std::uint64_t sequence, std::string_view url_path) {
  Exchange exchange;
  exchange.sequence = sequence;
  exchange.request.method = "GET";
  exchange.request.scheme = Scheme::kHttps;
  exchange.request.host = "example.org";
  exchange.request.port = 443;
  exchange.request.target = url_path;
  exchange.request.version = HttpVersion::kHttp11;
  exchange.request.headers = {{.name = "Host", .value = "example.org"}};
  exchange.response.status = 200;
  exchange.response.reason = "OK";
  exchange.response.version = HttpVersion::kHttp11;
  exchange.outcome = Outcome::kComplete;
  return exchange;
}

Exchange a_full_exchange(ArchiveWriter& writer, std::uint64_t sequence) {
  Exchange exchange = an_exchange(sequence, "/form?a=1&b=%20&a=2");
  exchange.client_connection_id = 3;
  exchange.stream_id = 7;
  exchange.origin_connection_id = 2;
  exchange.request.method = "POST";
  exchange.request.port = 8443;
  exchange.request.headers = {{.name = "HOST", .value = "example.org:8443"},
                              {.name = "x-Empty", .value = ""},
                              {.name = "Accept", .value = "text/html"},
                              {.name = "accept", .value = "*/*"}};
  exchange.request.trailers = {{.name = "X-Sum", .value = "1"}};
  exchange.request.body = store(writer, "name=value");
  exchange.interim = {{.status = 103,
                       .reason = "Early Hints",
                       .headers = {{.name = "Link", .value = "</a.css>; rel=preload"}},
                       .time = 11ms},
                      {.status = 100, .reason = "", .headers = {}, .time = kNoTime}};
  exchange.response.status = 201;
  exchange.response.reason = "Cr\xe9\x65";
  exchange.response.version = HttpVersion::kH2;
  exchange.response.headers = {{.name = "Set-Cookie", .value = "a=1"},
                               {.name = "Set-Cookie", .value = "b=2; Path=/"},
                               {.name = "X-\xff", .value = std::string_view("\0\x01", 2)}};
  exchange.response.trailers = {{.name = "Server-Timing", .value = "x"}};
  exchange.response.body = store(writer, "<!doctype html><p>" + std::to_string(sequence));
  exchange.response.chunk_times = {{.end_bytes = 5, .time = 20ms},
                                   {.end_bytes = 19, .time = 9ms},
                                   {.end_bytes = 19, .time = kNoTime}};
  exchange.timings = {.queued = 0ns, .request_sent = -5ns, .first_byte = 19ms, .end = kNoTime};
  exchange.outcome = Outcome::kCutByOrigin;
  exchange.failure = "the origin closed the connection after 19 of 40 bytes";
  return exchange;
}

ConnectionFacts a_connection(std::uint64_t id) {
  ConnectionFacts facts;
  facts.id = id;
  facts.scheme = Scheme::kHttps;
  facts.host = "example.org";
  facts.port = 443;
  facts.address = "[2001:db8::1]:443";
  facts.alpn = "h2";
  facts.tls_version = "TLSv1.3";
  facts.cipher = "TLS_AES_128_GCM_SHA256";
  facts.certificate_names = {"example.org", "*.example.org", "192.0.2.1"};
  facts.chain_bytes = 4096;
  facts.chain_digest.fill(std::byte{7});
  facts.dns_start = 1ms;
  facts.connect_start = 2ms;
  facts.tls_start = 3ms;
  facts.ready = kNoTime;
  facts.failure = "handshake failed";
  return facts;
}

DnsAnswer an_answer(std::string_view host) {
  DnsAnswer answer;
  answer.host = host;
  answer.type = 65;
  answer.rcode = 3;
  answer.failure = "no such name";
  answer.chain = {"cdn.example.net", "e1.example.com"};
  answer.addresses = {"192.0.2.1", "2001:db8::1"};
  answer.https = {std::string("\0\1\0\0\1\0\3\2h2", 10), ""};
  answer.ttl_s = 300;
  answer.asked = 1ms;
  answer.answered = 12ms;
  return answer;
}

void add(ArchiveWriter& writer, Exchange exchange) {
  auto const added = writer.add_exchange(std::move(exchange));
  ASSERT_TRUE(added) << added.error().message();
}

std::vector<Exchange> exchanges_of(const ArchiveReader& reader) {
  std::vector<Exchange> exchanges;
  for (auto const ordinal : reader.ordinals_in_order()) {
    auto exchange = reader.exchange(ordinal);
    if (!exchange) throw std::system_error(exchange.error());
    exchanges.push_back(std::move(*exchange));
  }
  return exchanges;
}

void expect_same(const Exchange& a, const Exchange& b) {
  EXPECT_EQ(a.session, b.session);
  EXPECT_EQ(a.sequence, b.sequence);
  EXPECT_EQ(a.client_connection_id, b.client_connection_id);
  EXPECT_EQ(a.stream_id, b.stream_id);
  EXPECT_EQ(a.origin_connection_id, b.origin_connection_id);
  EXPECT_EQ(a.request.method, b.request.method);
  EXPECT_EQ(a.request.scheme, b.request.scheme);
  EXPECT_EQ(a.request.host, b.request.host);
  EXPECT_EQ(a.request.port, b.request.port);
  EXPECT_EQ(a.request.target, b.request.target);
  EXPECT_EQ(a.request.version, b.request.version);
  EXPECT_TRUE(a.request.headers == b.request.headers);
  EXPECT_TRUE(a.request.trailers == b.request.trailers);
  EXPECT_EQ(a.request.body, b.request.body);
  EXPECT_EQ(a.request.body_partial, b.request.body_partial);
  ASSERT_EQ(a.interim.size(), b.interim.size());
  for (std::size_t i = 0; i < a.interim.size(); ++i) {
    EXPECT_EQ(a.interim[i].status, b.interim[i].status);
    EXPECT_EQ(a.interim[i].reason, b.interim[i].reason);
    EXPECT_TRUE(a.interim[i].headers == b.interim[i].headers);
    EXPECT_EQ(a.interim[i].time, b.interim[i].time);
  }
  EXPECT_EQ(a.response.status, b.response.status);
  EXPECT_EQ(a.response.reason, b.response.reason);
  EXPECT_EQ(a.response.version, b.response.version);
  EXPECT_TRUE(a.response.headers == b.response.headers);
  EXPECT_TRUE(a.response.trailers == b.response.trailers);
  EXPECT_EQ(a.response.body, b.response.body);
  EXPECT_EQ(a.response.chunk_times, b.response.chunk_times);
  EXPECT_EQ(a.response.timed_bytes, b.response.timed_bytes);
  EXPECT_EQ(a.timings.queued, b.timings.queued);
  EXPECT_EQ(a.timings.request_sent, b.timings.request_sent);
  EXPECT_EQ(a.timings.first_byte, b.timings.first_byte);
  EXPECT_EQ(a.timings.end, b.timings.end);
  EXPECT_EQ(a.outcome, b.outcome);
  EXPECT_EQ(a.failure, b.failure);
}

void expect_same(const ConnectionFacts& a, const ConnectionFacts& b) {
  EXPECT_EQ(a.id, b.id);
  EXPECT_EQ(a.session, b.session);
  EXPECT_EQ(a.scheme, b.scheme);
  EXPECT_EQ(a.host, b.host);
  EXPECT_EQ(a.port, b.port);
  EXPECT_EQ(a.address, b.address);
  EXPECT_EQ(a.alpn, b.alpn);
  EXPECT_EQ(a.tls_version, b.tls_version);
  EXPECT_EQ(a.cipher, b.cipher);
  EXPECT_EQ(a.certificate_names, b.certificate_names);
  EXPECT_EQ(a.chain_bytes, b.chain_bytes);
  EXPECT_EQ(a.chain_digest, b.chain_digest);
  EXPECT_EQ(a.dns_start, b.dns_start);
  EXPECT_EQ(a.connect_start, b.connect_start);
  EXPECT_EQ(a.tls_start, b.tls_start);
  EXPECT_EQ(a.ready, b.ready);
  EXPECT_EQ(a.round_trip, b.round_trip);
  EXPECT_EQ(a.failure, b.failure);
}

void expect_same(const DnsAnswer& a, const DnsAnswer& b) {
  EXPECT_EQ(a.session, b.session);
  EXPECT_EQ(a.host, b.host);
  EXPECT_EQ(a.type, b.type);
  EXPECT_EQ(a.rcode, b.rcode);
  EXPECT_EQ(a.failure, b.failure);
  EXPECT_EQ(a.chain, b.chain);
  EXPECT_EQ(a.addresses, b.addresses);
  EXPECT_EQ(a.https, b.https);
  EXPECT_EQ(a.ttl_s, b.ttl_s);
  EXPECT_EQ(a.asked, b.asked);
  EXPECT_EQ(a.answered, b.answered);
}

void expect_same(const SessionInfo& a, const SessionInfo& b) {
  EXPECT_EQ(a.number, b.number);
  EXPECT_EQ(a.started, b.started);
  EXPECT_EQ(a.tool_version, b.tool_version);
  EXPECT_EQ(a.command_line, b.command_line);
  EXPECT_EQ(a.random_seed, b.random_seed);
  EXPECT_EQ(a.pages, b.pages);
  EXPECT_EQ(a.time_zone, b.time_zone);
  EXPECT_EQ(a.injected_clock, b.injected_clock);
  EXPECT_EQ(a.complete, b.complete);
}

std::vector<std::string> problems_of(const ArchiveReader& reader) {
  std::vector<std::string> problems;
  auto const count =
      reader.verify([&problems](const std::string& problem) { problems.push_back(problem); },
                    [](std::uint64_t done, std::uint64_t total) { EXPECT_LE(done, total); });
  EXPECT_EQ(count, problems.size());
  return problems;
}

}  // namespace reprise
