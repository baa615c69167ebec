#include "archive/import/collect/collector.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/http/h1_syntax.h"
#include "base/http/message.h"
#include "base/text/ascii.h"

namespace reprise::importing {
namespace {

Headers to_headers(const Fields& fields) {
  std::vector<HeaderView> views;
  views.reserve(fields.size());
  for (const Field& field : fields) views.push_back({.name = field.name, .value = field.value});
  return Headers(views);
}

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

/// HTTP/2 has no such fields (RFC 9113 section 8.2.2): the tool made them up.
bool is_of_a_connection(std::string_view name) {
  constexpr std::array<std::string_view, 5> kNames = {
      "Connection", "Keep-Alive", "Proxy-Connection", "Transfer-Encoding", "Upgrade"};
  return std::ranges::any_of(
      kNames, [name](std::string_view each) { return equals_ignoring_case(name, each); });
}

bool is_address(const std::string& text) {
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  return ::inet_pton(AF_INET, text.c_str(), bytes.data()) == 1 ||
         ::inet_pton(AF_INET6, text.c_str(), bytes.data()) == 1;
}

/// Not without a response, whose status is 0.
bool may_have_content(const ExchangeDraft& draft) {
  return draft.status >= 200 && may_have_body(draft.method, draft.status);
}

/// HTTP/2 and later name the host in a pseudo-header. If such a request has a Host as its first
/// field that equals the URL's, the tool made it up.
void drop_made_up_host(ExchangeDraft& draft) {
  auto const version = draft.request_version;
  if (version != HttpVersion::kH2 && version != HttpVersion::kH3) return;
  auto& fields = draft.request_fields;
  if (fields.empty() || !equals_ignoring_case(fields.front().name, "Host")) return;
  auto const named =
      parse_url(std::string(to_string(draft.url.scheme)) + "://" + fields.front().value);
  if (named && named->host == draft.url.host && named->port == draft.url.port) {
    fields.erase(fields.begin());
  }
}

bool switches_to_web_socket(const ExchangeDraft& draft) {
  return draft.asks_for_web_socket() && agrees_to_web_socket(draft.version, draft.status);
}

void clean_address(std::string& address) {
  if (address.starts_with('[') && address.ends_with(']')) {
    address = address.substr(1, address.size() - 2);
  }
  if (!is_address(address)) address.clear();
}

}  // namespace

void ImportReport::remark(std::string text) {
  if (std::ranges::find(remarks, text) != remarks.end()) return;
  if (remarks.size() < kRemarksMax) {
    remarks.push_back(std::move(text));
  } else {
    ++more_remarks;
  }
}

void Collector::fail(Fault fault) {
  if (fault_) return;
  if (!part_.empty() && !fault.is_output) {
    fault.what = part_ + (fault.what.empty() ? "" : ": " + fault.what);
  }
  fault_ = std::move(fault);
}

void Collector::damage(Fault fault) {
  fault.is_damage = !fault.system;
  if (!keep_going_ || fault.system) return fail(std::move(fault));
  ++report_.damaged;
  if (!part_.empty()) fault.what = part_ + ": " + fault.what;
  if (damage_) return report_.remark(std::move(fault.what));
  damage_ = std::move(fault);
}

std::optional<Fault> Collector::take_fault() {
  auto const damage = std::exchange(damage_, std::nullopt);
  auto fault = std::exchange(fault_, std::nullopt);
  return damage && !(fault && fault->is_output) ? damage : fault;
}

void Collector::add_pages(std::vector<std::string> pages) {
  if (begun_ && !pages.empty()) {
    return report_.remark("the start URLs are those of the first recording: give others to load");
  }
  for (std::string& page : pages) {
    if (pages_.size() < kPagesMax && page.size() <= kPageBytesMax) {
      pages_.push_back(std::move(page));
    } else {
      report_.remark("some start URLs are skipped: more than 1,024, or longer than 64 KiB");
    }
  }
}

void Collector::begin(SessionInfo info) {
  if (begun_ || failed()) return;
  begun_ = true;
  started_ = std::chrono::nanoseconds(info.started.time_since_epoch()).count();
  info.tool_version = info.tool_version.empty()
                          ? "reprise " REPRISE_VERSION ", import"
                          : "reprise " REPRISE_VERSION ", import of " + info.tool_version;
  info.pages = std::move(pages_);
  took(sink_.begin_session(info));
}

SessionTime Collector::time_of(UnixTime time) const {
  return time ? SessionTime(*time - started_) : kNoTime;
}

/// Leaves one line per field, without what no message can contain.
void Collector::clean_fields(Fields& fields, HttpVersion version) {
  bool const multiplexed = version == HttpVersion::kH2 || version == HttpVersion::kH3;
  Fields clean;
  clean.reserve(fields.size());
  for (Field& field : fields) {
    if (field.name.starts_with(':')) continue;  // a pseudo-header: already known
    if (!is_token(field.name) || (multiplexed && is_of_a_connection(field.name))) {
      ++report_.fields_dropped;
      continue;
    }
    // Names are in lower case there (RFC 9113 section 8.2.1), whatever a tool made of them.
    if (multiplexed) std::ranges::transform(field.name, field.name.begin(), to_lower);
    std::ranges::replace(field.value, '\0', ' ');
    // HAR joins the values of equal names with line ends.
    while (true) {
      auto const end = field.value.find_first_of("\r\n");
      if (end == std::string::npos) break;
      if (end > 0) clean.push_back({.name = field.name, .value = field.value.substr(0, end)});
      field.value.erase(0, end + 1);
    }
    clean.push_back(std::move(field));
  }
  fields = std::move(clean);
}

void Collector::correct_response(ExchangeDraft& draft) {
  if (draft.body.kept && draft.body.coding == CodingVerdict::kNotCoded) {
    remove_fields(draft.fields, "Content-Encoding");
  }
  // A cut body had that length before.
  bool const whole = draft.body.kept && draft.outcome == Outcome::kComplete;
  if (!whole || !may_have_content(draft)) return;
  auto const is_length = [](const Field& field) {
    return equals_ignoring_case(field.name, "Content-Length");
  };
  auto const size = std::to_string(draft.body.stored.size_bytes);
  auto const first = std::ranges::find_if(draft.fields, is_length);
  if (first == draft.fields.end()) return;
  auto const others = std::remove_if(first + 1, draft.fields.end(), is_length);
  if (others == draft.fields.end() && first->value == size) return;
  first->value = size;
  draft.fields.erase(others, draft.fields.end());
  ++report_.lengths_corrected;
}

std::uint64_t Collector::connection_of(const ExchangeDraft& draft) {
  if (draft.address.empty() && draft.connection.empty()) return 0;
  auto const key = std::string(to_string(draft.url.scheme)) + " " + draft.url.host + " " +
                   std::to_string(draft.url.port) + " " + draft.address + " " +
                   draft.connection.substr(0, kConnectionBytesMax);
  if (connections_.size() == kConnectionsMax) connections_.clear();
  auto& known = connections_[key];
  // Tools that do not number connections have many of one key.
  bool const was_made = draft.connect.connect_start.has_value();
  bool const is_another = was_made && (draft.connection.empty() || !known.has_times);
  if (known.id != 0 && !is_another) return known.id;
  known = {.id = last_connection_ + 1, .has_times = was_made};
  auto facts = draft.facts;
  facts.id = ++last_connection_;
  facts.scheme = draft.url.scheme;
  facts.host = draft.url.host;
  facts.port = draft.url.port;
  if (!draft.address.empty()) {
    auto const is_v6 = draft.address.find(':') != std::string::npos;
    facts.address =
        (is_v6 ? "[" + draft.address + "]" : draft.address) + ":" + std::to_string(draft.url.port);
  }
  facts.dns_start = time_of(draft.connect.dns_start);
  facts.connect_start = time_of(draft.connect.connect_start);
  facts.tls_start = time_of(draft.connect.tls_start);
  facts.ready = time_of(draft.connect.ready);
  took(sink_.add_connection(std::move(facts)));
  return last_connection_;
}

void Collector::count(const ExchangeDraft& draft) {
  ++report_.exchanges;
  if (draft.body.stored.size_bytes > 0) ++report_.bodies;
  if (draft.request_body.size_bytes > 0) ++report_.request_bodies;
  if (draft.outcome == Outcome::kOriginFailed) {
    ++report_.failed;
  } else if (draft.outcome != Outcome::kComplete) {
    ++report_.incomplete;
  }
  if (draft.status != 0 && draft.version == HttpVersion::kUnknown) ++report_.unknown_version;
  if (draft.body.stored.size_bytes == 0 || draft.body.coding == CodingVerdict::kNone) return;
  ++report_.coded;
  if (draft.body.coding == CodingVerdict::kNotCoded) ++report_.codings_dropped;
  if (draft.body.coding == CodingVerdict::kBroken) ++report_.codings_broken;
}

void Collector::take_message(ExchangeDraft& draft, MessageDraft message) {
  constexpr std::size_t kOverheadBytes = 64;
  auto const bytes = message.payload.size() + kOverheadBytes;
  if (message.payload.size() > kMessagePayloadMax ||
      draft.message_bytes + bytes > kMessagesHeldMax) {
    ++report_.websocket_messages;
    return;
  }
  draft.message_bytes += bytes;
  draft.messages.push_back(std::move(message));
}

void Collector::add_messages(std::uint64_t sequence, const ExchangeDraft& draft) {
  for (const MessageDraft& each : draft.messages) {
    auto rest = std::as_bytes(std::span(each.payload));
    do {
      auto const piece = rest.first(std::min(rest.size(), kMessageBytesMax));
      rest = rest.subspan(piece.size());
      auto const added = sink_.add_message(sequence, {.sender = each.sender,
                                                      .kind = each.kind,
                                                      .fin = rest.empty(),
                                                      .time = time_of(each.time),
                                                      .payload = piece});
      if (!took(added)) return;
    } while (!rest.empty());
    ++report_.messages;
  }
}

/// Browsers write such a name in Punycode (RFC 3492), as in the Host field.
void Collector::settle_host(ExchangeDraft& draft) {
  if (is_ascii(draft.url.host)) return;
  auto const* sent = find_field(draft.request_fields, "Host");
  if (sent == nullptr) sent = find_field(draft.request_fields, ":authority");
  auto const named = sent == nullptr ? std::nullopt : parse_url("http://" + *sent);
  if (named && is_ascii(named->host)) {
    draft.url.host = named->host;
    return;
  }
  report_.remark("no request of a browser matches the host " + draft.url.host.substr(0, 200) +
                 ": it is not in ASCII (Punycode)");
}

/// An interim response ends no exchange: the final one is not in the recording.
void Collector::settle_status(ExchangeDraft& draft) {
  if (!is_interim(draft.status) || draft.status == 101) return;
  report_.remark("some exchanges have only an interim response (1xx) and are imported as failed");
  if (draft.failure.empty()) {
    draft.failure =
        "the recording contains only an interim response (" + status_text(draft.status) + ")";
  }
  draft.interim.push_back({.status = draft.status,
                           .reason = std::exchange(draft.reason, {}),
                           .headers = to_headers(std::exchange(draft.fields, {}))});
  draft.status = 0;
  draft.outcome = Outcome::kOriginFailed;
  draft.first_byte.reset();
}

/// Drops a body that the response cannot have, and leaves complete only what a replay can serve.
void Collector::settle_outcome(ExchangeDraft& draft) {
  if (draft.status == 0 && draft.outcome != Outcome::kCutByClient) {
    draft.outcome = Outcome::kOriginFailed;
  }
  if (!may_have_content(draft)) {
    // A browser reports a body from its cache with a 304.
    if (draft.body.stored.size_bytes > 0) ++report_.bodies_dropped;
    draft.body = {};
  }
  if (draft.outcome == Outcome::kComplete && (!draft.body.kept || draft.body.broken_chunks)) {
    draft.outcome = draft.body.kept ? Outcome::kCutByOrigin : Outcome::kCutByClient;
    if (draft.failure.empty()) {
      draft.failure =
          draft.body.kept ? "its chunked body ends too early" : "the body was not recorded";
    }
  }
  bool const is_other_protocol = draft.status == 101 && !switches_to_web_socket(draft);
  if (is_other_protocol && draft.outcome == Outcome::kComplete) {
    draft.outcome = Outcome::kCutByClient;
    draft.failure = "the protocol was switched; later data was not recorded";
  }
  // Nothing may serve its answer as that of an ordinary request.
  bool const is_success = draft.status >= 200 && draft.status < 300;
  bool const has_not_opened = draft.asks_for_web_socket() && !switches_to_web_socket(draft);
  if (is_success && has_not_opened && draft.outcome == Outcome::kComplete) {
    draft.outcome = Outcome::kCutByClient;
    draft.failure = "the recording does not show that the WebSocket was opened";
  }
}

Exchange Collector::exchange_of(const ExchangeDraft& draft, std::uint64_t sequence,
                                std::uint64_t connection) const {
  bool const is_web_socket = switches_to_web_socket(draft);
  return {.sequence = sequence,
          .origin_connection_id = connection,
          .request = {.method = is_web_socket ? "CONNECT" : draft.method,
                      .scheme = draft.url.scheme,
                      .host = draft.url.host,
                      .port = draft.url.port,
                      .target = draft.url.target,
                      .version = draft.request_version,
                      .protocol = is_web_socket ? std::string(kWebSocketProtocol) : "",
                      .headers = to_headers(draft.request_fields),
                      .body = draft.request_body,
                      .body_partial = draft.request_body_unknown},
          .interim = draft.interim,
          .response = {.status = draft.status,
                       .reason = draft.reason,
                       .version = draft.version,
                       .headers = to_headers(draft.fields),
                       .trailers = to_headers(draft.body.trailers),
                       .body = draft.body.stored},
          .timings = {.queued = time_of(draft.queued),
                      .request_sent = time_of(draft.request_sent),
                      .first_byte = time_of(draft.first_byte),
                      .end = time_of(draft.end)},
          .outcome = draft.outcome,
          .failure = draft.failure};
}

void Collector::add(ExchangeDraft draft) {
  if (failed()) return;
  if (!is_token(draft.method)) {
    ++report_.not_http;
    return report_.remark("skipped: invalid HTTP method: " + draft.method.substr(0, 40));
  }
  auto const started = std::chrono::nanoseconds(draft.queued.value_or(0));
  begin({.started = std::chrono::system_clock::time_point(started)});
  settle_host(draft);
  clean_fields(draft.request_fields, draft.request_version);
  clean_fields(draft.fields, draft.version);
  drop_made_up_host(draft);
  settle_status(draft);
  correct_response(draft);
  settle_outcome(draft);
  clean_address(draft.address);
  auto const connection = connection_of(draft);
  if (failed()) return;
  auto const sequence = draft.sequence > 0 ? draft.sequence : next_sequence();
  auto const added = sink_.add_exchange(exchange_of(draft, sequence, connection));
  if (added == reprise::fail(archive_errc::too_large)) {
    ++report_.too_large;
    report_.remark("skipped: exchange exceeds the limits of the archive: " + draft.url.host);
    return;
  }
  if (took(added)) {
    count(draft);
    if (switches_to_web_socket(draft)) {
      add_messages(sequence, draft);
    } else {
      report_.websocket_messages += draft.messages.size();
    }
  }
  is_stopped();
}

bool Collector::is_stopped() {
  if (!stop_ || !stop_()) return false;
  stop_ = nullptr;  // the waiting halves may still be added
  fail({.what = "stopped", .system = std::make_error_code(std::errc::operation_canceled)});
  return true;
}

}  // namespace reprise::importing
