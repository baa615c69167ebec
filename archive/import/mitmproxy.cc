#include "archive/import/mitmproxy.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "archive/import/mitmproxy_message.h"
#include "archive/import/mitmproxy_web_socket.h"

namespace reprise::importing {
namespace {

HttpVersion version_of(const std::string& text) {
  if (text == "1:1#1:1#") return HttpVersion::kHttp11;
  if (text == "1:1#1:0#") return HttpVersion::kHttp10;
  if (text == "1:2#1:0#") return HttpVersion::kH2;
  return parse_version(text);
}

class FlowReader {
 public:
  FlowReader(ByteReader& from, Collector& collector)
      : from_(from), tnet_(from), collector_(collector), handshakes_(collector) {}

  void read() {
    while (!from_.at_end() && !collector_.failed()) {
      ++number_;
      read_flow();
      if (from_.failed() && !skip_flow()) break;
    }
    handshakes_.let_go();
    if (from_.failed()) damage();
    if (!collector_.failed() && (from_.failed() || !from_.at_end())) note_rest();
  }

 private:
  static constexpr std::size_t kShortTextBytesMax = 100;

  struct Flow {
    std::string type = "http";
    std::string id;
    FlowMessage request;
    FlowMessage response;
    std::string error;
    std::string address;
    ConnectionFacts facts;
    UnixTime server_end;
    ExchangeDraft web_socket;     ///< only its messages are used
    std::uint64_t messages = 0;   ///< skipped ones
    bool has_web_socket = false;  ///< the member, since version 7; it may be null
    bool is_handshake = false;    ///< before version 7; its messages may follow
    std::string handshake;        ///< before version 7: the id of that of these messages
    WebSocketClose close;         ///< before version 7
  };

  void read_flow();
  void damage();
  void note_rest();
  bool skip_flow();
  void read_server(Flow& flow);
  std::string read_address();
  std::string read_error();
  void read_web_socket(Flow& flow);
  void read_messages(Flow& flow);
  bool read_old_web_socket(const std::string& key, Flow& flow);
  void read_metadata(Flow& flow);
  void add(Flow& flow);
  void add_messages(Flow& flow);
  std::string text() { return read_flow_text(tnet_, collector_.report()); }
  /// Empty if it is longer than kShortTextBytesMax.
  std::string short_text() {
    bool is_cut = false;
    auto found = tnet_.text_up_to(kShortTextBytesMax, is_cut).value_or("");
    return is_cut ? std::string() : found;
  }

  ByteReader& from_;
  TnetReader tnet_;
  Collector& collector_;
  std::uint64_t number_ = 0;
  std::optional<std::uint64_t> flow_end_;  ///< where its payload ends; its type follows
  WaitingHandshakes handshakes_;
};

void FlowReader::read_flow() {
  Flow flow;
  flow_end_.reset();
  if (!tnet_.open()) return;
  flow_end_ = tnet_.end();
  std::string key;
  while (tnet_.next_key(key) && !collector_.failed()) {
    if (key == "type") {
      flow.type = text();
    } else if (key == "id") {
      flow.id = short_text();
    } else if (key == "request") {
      flow.request = read_flow_message(tnet_, collector_, kRequestParts);
    } else if (key == "response") {
      flow.response = read_flow_message(tnet_, collector_, kResponseParts);
    } else if (key == "server_conn") {
      read_server(flow);
    } else if (key == "error") {
      flow.error = read_error();
    } else if (key == "websocket") {
      read_web_socket(flow);
    } else if (!read_old_web_socket(key, flow)) {
      tnet_.skip();
    }
  }
  if (collector_.failed()) return;
  tnet_.close_dictionary();
  if (!from_.failed()) add(flow);
}

void FlowReader::damage() {
  auto fault = *from_.fault();
  fault.what = "flow " + std::to_string(number_) + " " + fault.what;
  collector_.damage(std::move(fault));
}

void FlowReader::note_rest() {
  collector_.report().remark("the rest of the flows is not read: the end of flow " +
                             std::to_string(number_) + " is unknown");
}

/// Records the damage to this flow with `keep_going`, and moves to the next one by its length.
/// False if that is not known, or there is no next one.
bool FlowReader::skip_flow() {
  if (!collector_.keeps_going() || !flow_end_ || from_.source_failed()) return false;
  damage();
  from_.resume();
  tnet_.reset();
  if (from_.offset() > *flow_end_) return true;  // all of it was read
  auto const resumed_at = from_.offset();
  while (from_.offset() < *flow_end_ && !from_.at_end()) {
    from_.consume(std::min<std::uint64_t>(from_.some().size(), *flow_end_ - from_.offset()));
  }
  if (from_.offset() < *flow_end_) {
    // If its length is wrong, what was skipped contains other flows.
    if (from_.offset() > resumed_at) note_rest();
    return false;
  }
  // Its type, and the length of the next one.
  constexpr std::size_t kBytes = 14;
  auto const next = from_.fill(kBytes).substr(0, kBytes);
  auto const colon = next.find_first_not_of("0123456789", 1);
  bool const begins_another = colon > 1 && colon < next.size() && next[colon] == ':';
  if (next.size() != 1 && !begins_another) return false;
  from_.consume(1);
  return true;
}

/// ["192.0.2.1", 443], or in some versions a dictionary with that as "address".
std::string FlowReader::read_address() {
  std::string address;
  if (!tnet_.open()) return address;
  if (tnet_.more()) address = text();
  if (address == "address" && tnet_.more()) address = read_address();
  tnet_.close();
  return address;
}

void FlowReader::read_server(Flow& flow) {
  if (!tnet_.open()) return;
  std::string key;
  while (tnet_.next_key(key)) {
    if (key == "peername" || key == "ip_address" || key == "peer_address") {
      if (auto address = read_address(); !address.empty()) flow.address = std::move(address);
    } else if (key == "alpn" || key == "alpn_proto_negotiated") {
      flow.facts.alpn = text().substr(0, 255);
    } else if (key == "tls_version") {
      flow.facts.tls_version = text().substr(0, 16);
    } else if (key == "cipher" || key == "cipher_name") {
      flow.facts.cipher = text().substr(0, 100);
    } else if (key == "timestamp_end") {
      flow.server_end = parse_flow_time(text());
    } else {
      tnet_.skip();
    }
  }
  tnet_.close();
}

std::string FlowReader::read_error() {
  std::string message;
  if (!tnet_.open()) return message;
  std::string key;
  while (tnet_.next_key(key)) {
    if (key == "msg") {
      message = text().substr(0, 1000);
    } else {
      tnet_.skip();
    }
  }
  tnet_.close();
  return message;
}

/// Takes one member of a flow with messages, or the links between it and its handshake. False if
/// the member is unknown. Messages of other flows, such as those of TCP, are skipped.
bool FlowReader::read_old_web_socket(const std::string& key, Flow& flow) {
  if (key == "metadata") {
    read_metadata(flow);
  } else if (key == "messages" && flow.type == "websocket") {
    read_messages(flow);
  } else if (key == "close_sender") {
    auto const sender = short_text();
    if (sender == "client") flow.close.sender = MessageSender::kClient;
    if (sender == "server") flow.close.sender = MessageSender::kOrigin;
  } else if (key == "close_code") {
    flow.close.code = parse_flow_number(text());
  } else if (key == "close_reason") {
    flow.close.reason = text();
  } else {
    return false;
  }
  return true;
}

void FlowReader::read_metadata(Flow& flow) {
  if (!tnet_.open()) return;
  std::string key;
  while (tnet_.next_key(key)) {
    if (key == "websocket") {
      flow.is_handshake = short_text() == "true";
    } else if (key == "websocket_handshake") {
      flow.handshake = short_text();
    } else {
      tnet_.skip();
    }
  }
  tnet_.close();
}

/// [opcode, whether the client sent it, content, seconds since 1970, whether it was dropped, ...]
void FlowReader::read_messages(Flow& flow) {
  if (!tnet_.open()) return;
  while (tnet_.more() && !collector_.failed()) {
    MessageDraft message;
    if (!tnet_.open()) return;
    std::string fields[5];
    std::size_t count = 0;
    while (tnet_.more()) {
      if (count == std::size(fields)) {
        tnet_.skip();
        continue;
      }
      // A payload that is too long is skipped by its length.
      auto const limit = count == 2 ? kMessagePayloadMax + 1 : kFlowTextBytesMax;
      bool is_cut = false;
      fields[count++] = tnet_.text_up_to(limit, is_cut).value_or("");
    }
    tnet_.close();
    bool const is_text = fields[0] == "1";
    bool const was_sent = count >= 4 && fields[4] != "true";
    if (!was_sent || (!is_text && fields[0] != "2")) {
      ++flow.messages;
      continue;
    }
    message.kind = is_text ? MessageKind::kText : MessageKind::kBinary;
    message.sender = fields[1] == "true" ? MessageSender::kClient : MessageSender::kOrigin;
    message.payload = std::move(fields[2]);
    message.time = parse_flow_time(fields[3]);
    collector_.take_message(flow.web_socket, std::move(message));
  }
  tnet_.close();
}

void FlowReader::read_web_socket(Flow& flow) {
  WebSocketClose close;
  flow.has_web_socket = true;
  if (!tnet_.open()) return;
  std::string key;
  while (tnet_.next_key(key) && !collector_.failed()) {
    if (key == "messages") {
      read_messages(flow);
    } else if (key == "closed_by_client") {
      auto const is_client = text();
      if (is_client.empty()) continue;
      close.sender = is_client == "true" ? MessageSender::kClient : MessageSender::kOrigin;
    } else if (key == "close_code") {
      close.code = parse_flow_number(text());
    } else if (key == "close_reason") {
      close.reason = text();
    } else if (key == "timestamp_end") {
      close.time = parse_flow_time(text());
    } else {
      tnet_.skip();
    }
  }
  flow.web_socket.is_web_socket = tnet_.close() == '}';
  if (close.sender) collector_.take_message(flow.web_socket, close_message(close));
}

/// Adds a handshake with the messages of this flow.
void FlowReader::add_messages(Flow& flow) {
  auto draft = handshakes_.take(flow.handshake);
  if (!draft) {
    collector_.report().websocket_messages += flow.web_socket.messages.size();
    ++collector_.report().not_http;
    return collector_.report().remark(
        "skipped: the messages of a WebSocket whose handshake is not in the recording before them");
  }
  // What the tool writes until there is a close.
  bool const is_open = flow.close.code == 1000 && flow.close.reason == "unknown status code";
  if (flow.close.sender && !is_open) {
    flow.close.time = flow.server_end;
    collector_.take_message(flow.web_socket, close_message(flow.close));
  }
  draft->is_web_socket = true;
  draft->messages = std::move(flow.web_socket.messages);
  collector_.add(std::move(*draft));
}

void FlowReader::add(Flow& flow) {
  collector_.report().websocket_messages += flow.messages;
  constexpr std::array<std::string_view, 3> kOtherTypes = {"tcp", "udp", "dns"};
  if (std::ranges::find(kOtherTypes, flow.type) != kOtherTypes.end()) {
    ++collector_.report().not_http;
    return;
  }
  auto& request = flow.request;
  if (request.lacks_part || flow.response.lacks_part) {
    return from_.fail("before byte " + std::to_string(from_.offset()) +
                      ": a message lacks a required member, such as its headers");
  }
  if (flow.type == "websocket") return add_messages(flow);
  if (flow.type != "http" || !request.is_there) {
    return from_.fail(flow.type == "http" ? "contains no request" : "has an unknown type");
  }
  auto const url = parse_url(
      request.scheme + "://" +
      (request.host.find(':') == std::string::npos ? request.host : "[" + request.host + "]") +
      (request.port > 0 ? ":" + std::to_string(request.port) : ""));
  if (!url) {
    ++collector_.report().not_http;
    return;
  }
  if (request.is_path_cut) {
    ++collector_.report().too_large;
    return collector_.report().remark("skipped: the URL is longer than 1 MiB: " +
                                      request.path.substr(0, 200));
  }
  bool const lacks_its_body = lacks_body(request);
  ExchangeDraft draft{.method = request.method.empty() ? "GET" : request.method,
                      .url = *url,
                      .request_version = version_of(request.first_line_version),
                      .request_fields = std::move(request.fields),
                      .request_body = std::move(request.body.stored),
                      .request_body_unknown = lacks_its_body,
                      .queued = request.start,
                      .request_sent = request.end,
                      .address = flow.address,
                      .facts = flow.facts};
  // A browser names the host that the client of a transparent proxy knows only by address: over
  // HTTP/2 in :authority.
  auto const* const host = find_field(draft.request_fields, "Host");
  auto const name = host != nullptr && request.authority.empty() ? *host : request.authority;
  if (auto const named = parse_url(request.scheme + "://" + name)) draft.url.host = named->host;
  if (request.path.starts_with('/') || request.path == "*") {
    draft.url.target = clean_target(request.path);
  }
  draft.messages = std::move(flow.web_socket.messages);
  draft.is_web_socket = flow.web_socket.is_web_socket;
  draft.failure = flow.error;
  if (flow.response.is_there) {
    draft.status = flow.response.status;
    draft.reason = std::move(flow.response.reason);
    draft.version = version_of(flow.response.first_line_version);
    draft.fields = std::move(flow.response.fields);
    draft.body = std::move(flow.response.body);
    draft.first_byte = flow.response.start;
    draft.end = flow.response.end;
    if (!flow.error.empty()) draft.outcome = Outcome::kCutByOrigin;
  } else if (draft.failure.empty()) {
    draft.failure = "the recording contains no response";
  }
  collector_.begin({.started = std::chrono::system_clock::time_point(
                        std::chrono::nanoseconds(draft.queued.value_or(0))),
                    .tool_version = "mitmproxy flows"});
  bool const has_more = flow.is_handshake && !flow.has_web_socket && draft.status == 101;
  if (!has_more || flow.id.empty()) return collector_.add(std::move(draft));
  handshakes_.hold(std::move(flow.id), std::move(draft));
}

}  // namespace

void import_mitmproxy(ByteReader& from, Collector& collector) {
  FlowReader(from, collector).read();
}

}  // namespace reprise::importing
