// Web Page Replay's archive (Go, web_page_replay_go/src/webpagereplay/archive.go): one JSON object
// in one gzip member, as its encoding/json writes it.

#include <algorithm>
#include <map>
#include <vector>

#include "archive/export/message.h"
#include "archive/export/text.h"

namespace reprise::exporting {
namespace {

/// The place of an exchange in the file: by host, then URL, then in the order of the requests.
struct Place {
  std::string host;  ///< the Host field as sent
  std::string url;
  std::size_t position = 0;
  auto operator<=>(const Place&) const = default;
};

class WprgoWriter {
 public:
  WprgoWriter(Job& job, Output& to) : job_(job), json_(to, JsonWriter::Escapes::kAsGo) {}
  void write();

 private:
  void survey();
  void lose_web_socket(const Exchange& exchange);
  void note_protocol(const Exchange& exchange);
  void write_requests();
  void write_entry(const Exchange& exchange);
  void write_bytes(std::string_view key, const Message* message);

  Job& job_;
  JsonWriter json_;
  std::vector<Place> places_;
  std::map<std::string, std::string> protocols_;
};

void WprgoWriter::write() {
  survey();
  if (job_.failed()) return;
  job_.lose_connections();
  job_.report().lose(Loss::kPages, job_.session().pages.size());
  json_.begin_object();
  json_.key("Requests");
  write_requests();
  // The replayer mints leaves again.
  json_.key("Certs");
  json_.raw("{}");
  json_.key("NegotiatedProtocol");
  json_.begin_object();
  for (auto const& [host, protocol] : protocols_) {
    json_.key(host);
    json_.text(protocol);
  }
  json_.end_object();
  json_.key("DeterministicTimeSeedMs");
  json_.number(job_.time_seed().count());
  json_.key("ServeResponseInChronologicalSequence");
  json_.raw("false");
  json_.key("CurrentSessionId");
  json_.number(0);
  json_.key("DisableFuzzyURLMatching");
  json_.raw("false");
  json_.end_object();
}

/// The file is sorted, so the place of each exchange must be known before the first is written.
void WprgoWriter::survey() {
  for (std::size_t i = 0; i < job_.size(); ++i) {
    auto const exchange = job_.read(i);
    if (!exchange) return;
    if (opens_web_socket(*exchange)) {
      lose_web_socket(*exchange);
      continue;
    }
    bool const is_whole = exchange->outcome == Outcome::kComplete;
    auto const cut =
        (exchange->response.status != 0 && !is_whole) || exchange->outcome == Outcome::kCutByClient;
    if (!is_writable(*exchange) || cut) {
      job_.report().lose(cut ? Loss::kCut : Loss::kUnwritable);
      continue;
    }
    if (exchange->response.status == 0 && job_.options().answered_only) {
      job_.report().lose(Loss::kUnanswered);
      continue;
    }
    auto host = authority_of(exchange->request);
    auto url = safe_url(exchange->request);
    // The tool finds an entry by the Host field as written by the client.
    auto const sent = find_header(exchange->request.headers.list(), "Host");
    if (sent && lower_case(*sent) == host) {
      url.replace(url.find("://") + 3, host.size(), *sent);
      host = *sent;
    }
    note_protocol(*exchange);
    places_.push_back({.host = std::move(host), .url = std::move(url), .position = i});
  }
  std::ranges::sort(places_);
}

/// Counts its messages; one without messages counts as cut.
void WprgoWriter::lose_web_socket(const Exchange& exchange) {
  auto const before = job_.report().count_of(Loss::kMessages);
  job_.lose_messages(exchange);
  if (job_.report().count_of(Loss::kMessages) == before) job_.report().lose(Loss::kCut);
}

void WprgoWriter::note_protocol(const Exchange& exchange) {
  if (exchange.request.scheme != Scheme::kHttps || exchange.response.status == 0) return;
  auto const* const facts = job_.connection_of(exchange);
  std::string protocol = facts == nullptr ? "" : facts->alpn;
  if (protocol.empty()) {
    protocol = exchange.response.version == HttpVersion::kH2 ? "h2" : "http/1.1";
  }
  protocols_.try_emplace(exchange.request.host, protocol);
}

void WprgoWriter::write_requests() {
  json_.begin_object();
  for (std::size_t i = 0; i < places_.size() && !job_.failed(); ++i) {
    auto const& place = places_[i];
    bool const new_host = i == 0 || places_[i - 1].host != place.host;
    bool const new_url = new_host || places_[i - 1].url != place.url;
    if (new_host) {
      json_.key(place.host);
      json_.begin_object();
    }
    if (new_url) {
      json_.key(place.url);
      json_.begin_array();
    }
    auto const exchange = job_.read(place.position);
    if (!exchange) return;
    write_entry(*exchange);
    bool const last = i + 1 == places_.size();
    bool const last_of_host = last || places_[i + 1].host != place.host;
    if (last_of_host || places_[i + 1].url != place.url) json_.end_array();
    if (last_of_host) json_.end_object();
  }
  json_.end_object();
}

void WprgoWriter::write_bytes(std::string_view key, const Message* message) {
  json_.key(key);
  json_.begin_text();
  if (message != nullptr) {
    Base64Output base64(json_.plain());
    write_message(job_, *message, base64);
    base64.flush();
  }
  json_.end_text();
}

void WprgoWriter::write_entry(const Exchange& exchange) {
  job_.count(exchange);
  auto& report = job_.report();
  auto const& timings = exchange.timings;
  auto const& response = exchange.response;
  if (timings.queued != kNoTime || timings.end != kNoTime) report.lose(Loss::kTimes);
  if (!exchange.failure.empty()) report.lose(Loss::kReasons);
  if (exchange.request.body_partial) report.lose(Loss::kPartialRequest);
  if (response.version == HttpVersion::kUnknown || response.version == HttpVersion::kH3) {
    report.lose(Loss::kVersion);
  }
  auto const* const version = response.version == HttpVersion::kH2       ? "HTTP/2.0"
                              : response.version == HttpVersion::kHttp10 ? "HTTP/1.0"
                                                                         : "HTTP/1.1";
  // Its reader takes the URL's host from the Host field.
  auto const request = request_message(job_, exchange, AddHost::kAlways);
  auto const answer = response_message(job_, exchange, version);
  json_.begin_object();
  write_bytes("SerializedRequest", &request);
  // In this format an empty response means that there was none.
  write_bytes("SerializedResponse", response.status == 0 ? nullptr : &answer);
  json_.key("LastServedSessionId");
  json_.number(0);
  json_.end_object();
}

}  // namespace

void write_wprgo(Job& job, Output& to) {
  WprgoWriter(job, to).write();
}

}  // namespace reprise::exporting
