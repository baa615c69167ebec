// WARC 1.1 (ISO 28500:2017): a warcinfo record, then for each exchange a request and a response
// record. WARC-Protocol and WARC-Cipher-Suite are those of the IIPC's warc-specifications (issue
// 42): HTTP/2 is written as HTTP/1.1 and named there.

#include <algorithm>
#include <array>

#include "archive/export/message.h"
#include "base/http/digest.h"
#include "base/http/h1_syntax.h"

namespace reprise::exporting {
namespace {

/// The same id for the same record: a UUID of version 8 (RFC 9562) made from a digest.
std::string record_id(Sha256 digest) {
  digest[6] = (digest[6] & std::byte{0x0f}) | std::byte{0x80};
  digest[8] = (digest[8] & std::byte{0x3f}) | std::byte{0x80};
  auto text = hex(std::span(digest).first(16));
  for (std::size_t const at : {20U, 16U, 12U, 8U}) text.insert(at, 1, '-');
  return "<urn:uuid:" + text + ">";
}

/// IANA's name for an OpenSSL cipher suite; empty if unknown here or invalid in a field.
std::string cipher_suite(std::string_view openssl) {
  if (!is_token(openssl)) return {};
  if (openssl.starts_with("TLS_")) return std::string(openssl);
  constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kNames{{
      {"ECDHE-ECDSA-AES128-GCM-SHA256", "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"},
      {"ECDHE-RSA-AES128-GCM-SHA256", "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"},
      {"ECDHE-ECDSA-AES256-GCM-SHA384", "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"},
      {"ECDHE-RSA-AES256-GCM-SHA384", "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"},
      {"ECDHE-ECDSA-CHACHA20-POLY1305", "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256"},
      {"ECDHE-RSA-CHACHA20-POLY1305", "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256"},
      {"ECDHE-RSA-AES128-SHA", "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA"},
      {"ECDHE-RSA-AES256-SHA", "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA"},
      {"AES128-GCM-SHA256", "TLS_RSA_WITH_AES_128_GCM_SHA256"},
      {"AES256-GCM-SHA384", "TLS_RSA_WITH_AES_256_GCM_SHA384"},
      {"AES128-SHA", "TLS_RSA_WITH_AES_128_CBC_SHA"},
  }};
  auto const* const found =
      std::ranges::find(kNames, openssl, [](auto& name) { return name.first; });
  return found == kNames.end() ? "" : std::string(found->second);
}

/// "tls/1.3" for "TLSv1.3".
std::string tls_protocol(std::string_view version) {
  if (!version.starts_with("TLSv1") || !is_token(version)) return {};
  version.remove_prefix(4);
  return "tls/" + std::string(version) + (version.size() == 1 ? ".0" : "");
}

std::string_view http_protocol(HttpVersion version) {
  switch (version) {
    case HttpVersion::kHttp10:
      return "http/1.0";
    case HttpVersion::kHttp11:
      return "http/1.1";
    case HttpVersion::kH2:
      return "h2";
    case HttpVersion::kH3:
      return "h3";
    case HttpVersion::kUnknown:
      break;
  }
  return {};
}

std::string line(std::string_view name, std::string_view value) {
  return std::string(name).append(": ").append(value).append("\r\n");
}

class WarcWriter {
 public:
  WarcWriter(Job& job, Output& to) : job_(job), to_(to) {}
  void write();

 private:
  void write_info();
  void write_exchange(const Exchange& exchange);
  std::string common_fields(const Exchange& exchange, HttpVersion version);
  std::string write_record(std::string_view type, const std::string& fields, const Message& message,
                           std::uint64_t sequence);
  void count(const Exchange& exchange);

  Job& job_;
  Output& to_;
  std::string info_id_;
};

void WarcWriter::write() {
  write_info();
  job_.lose_connections();
  for (std::size_t i = 0; i < job_.size() && !to_.error(); ++i) {
    auto const exchange = job_.read(i);
    if (!exchange) return;
    if (is_writable(*exchange)) {
      write_exchange(*exchange);
    } else {
      job_.report().lose(Loss::kUnwritable);
    }
  }
}

/// `import` reads our own fields; other tools ignore them.
void WarcWriter::write_info() {
  auto const started = time_text(job_.session_start());
  std::string text = line("software", "reprise " REPRISE_VERSION) +
                     line("format", "WARC File Format 1.1") +
                     line("conformsTo",
                          "http://iipc.github.io/warc-specifications/specifications/warc-format/"
                          "warc-1.1/") +
                     line("reprise-started", started);
  for (const std::string& page : job_.session().pages) {
    if (page.find_first_of("\r\n") == std::string::npos) text += line("reprise-page", page);
  }
  Measure measure;
  measure.write(text);
  auto const digest = measure.digest();
  info_id_ = record_id(digest);
  to_.write("WARC/1.1\r\nWARC-Type: warcinfo\r\n" + line("WARC-Record-ID", info_id_) +
            line("WARC-Date", started) + line("WARC-Block-Digest", "sha256:" + hex(digest)) +
            line("Content-Type", "application/warc-fields") +
            line("Content-Length", std::to_string(text.size())) + "\r\n" + text + "\r\n\r\n");
  to_.flush();
}

std::string WarcWriter::common_fields(const Exchange& exchange, HttpVersion version) {
  auto const date = job_.unix_time(exchange.timings.queued).value_or(job_.session_start());
  auto fields = line("WARC-Date", time_text(date)) +
                line("WARC-Target-URI", safe_url(exchange.request)) +
                line("WARC-Warcinfo-ID", info_id_);
  auto const* const facts = job_.connection_of(exchange);
  if (auto const address = address_of(facts); !address.empty()) {
    fields += line("WARC-IP-Address", address);
  }
  if (auto const protocol = http_protocol(version); !protocol.empty()) {
    fields += line("WARC-Protocol", protocol);
  }
  if (facts == nullptr) return fields;
  if (auto const tls = tls_protocol(facts->tls_version); !tls.empty()) {
    fields += line("WARC-Protocol", tls);
  }
  if (auto const suite = cipher_suite(facts->cipher); !suite.empty()) {
    fields += line("WARC-Cipher-Suite", suite);
  }
  return fields;
}

/// Returns its id. Reads the block twice: its length and digest come first.
std::string WarcWriter::write_record(std::string_view type, const std::string& fields,
                                     const Message& message, std::uint64_t sequence) {
  Measure measure;
  if (!write_message(job_, message, measure)) return {};
  auto const size_bytes = measure.size_bytes();
  auto const block_digest = measure.digest();
  auto const block = line("WARC-Block-Digest", "sha256:" + hex(block_digest)) +
                     line("Content-Type", "application/http; msgtype=" + std::string(type)) +
                     line("Content-Length", std::to_string(size_bytes));
  // Equal requests are different records.
  Measure identity;
  identity.write(line(type, std::to_string(sequence)) + fields + block);
  auto const id = record_id(identity.digest());
  to_.write("WARC/1.1\r\n" + line("WARC-Type", type) + line("WARC-Record-ID", id) + fields + block +
            "\r\n");
  if (!write_message(job_, message, to_)) return {};
  to_.write("\r\n\r\n");
  to_.flush();
  return id;
}

void WarcWriter::write_exchange(const Exchange& exchange) {
  auto const& request = exchange.request;
  auto request_fields = common_fields(exchange, request.version);
  if (request.body_partial) request_fields += line("WARC-Truncated", "disconnect");
  auto const request_text = request_message(job_, exchange, AddHost::kToMultiplexed);
  auto const id = write_record("request", request_fields, request_text, exchange.sequence);
  if (job_.failed()) return;
  count(exchange);
  auto const& response = exchange.response;
  if (response.status == 0) return;
  auto fields = common_fields(exchange, response.version) + line("WARC-Concurrent-To", id);
  // Of a WebSocket only the head is written, of which HTTP/2 has no 101.
  if (exchange.outcome != Outcome::kComplete || opens_web_socket(exchange)) {
    auto const by_origin = exchange.outcome == Outcome::kCutByOrigin;
    fields += line("WARC-Truncated", by_origin ? "disconnect" : "unspecified");
  }
  auto const message = response_message(
      job_, exchange, response.version == HttpVersion::kHttp10 ? "HTTP/1.0" : "HTTP/1.1");
  if (message.body != nullptr && response.body.size_bytes > 0) {
    fields += line("WARC-Payload-Digest", "sha256:" + hex(response.body.digest));
  }
  write_record("response", fields, message, exchange.sequence);
}

void WarcWriter::count(const Exchange& exchange) {
  job_.count(exchange);
  auto& report = job_.report();
  auto const& timings = exchange.timings;
  if (timings.queued == kNoTime) report.lose(Loss::kStartAssumed);
  if (timings.request_sent != kNoTime || timings.first_byte != kNoTime || timings.end != kNoTime) {
    report.lose(Loss::kTimes);
  }
  if (exchange.response.status == 0) {
    report.lose(Loss::kFailed);
  } else if (!exchange.failure.empty()) {
    report.lose(Loss::kReasons);
  }
  if (auto const* const facts = job_.connection_of(exchange); facts != nullptr) {
    for (auto const* const text : {&facts->tls_version, &facts->cipher}) {
      if (!text->empty() && !is_token(*text)) report.lose(Loss::kText);
    }
  }
  for (auto const version : {exchange.request.version, exchange.response.version}) {
    if (version == HttpVersion::kUnknown && exchange.response.status != 0) {
      report.lose(Loss::kVersion);
    }
  }
}

}  // namespace

void write_warc(Job& job, Output& to) {
  WarcWriter(job, to).write();
}

}  // namespace reprise::exporting
