#include "proxy/replay/replay.h"

#include <spdlog/spdlog.h>

#include <charconv>
#include <deque>

#include "archive/match/parameters.h"
#include "inject/response.h"
#include "proxy/replay/broken_exchange.h"
#include "proxy/replay/replayer.h"
#include "proxy/replay/response/held_body.h"
#include "proxy/replay/response/other_form.h"
#include "proxy/replay/response/selected_response.h"
#include "proxy/replay/response/stitched_parts.h"
#include "proxy/replay/timed_response.h"

namespace reprise {
namespace {

MatchKey key_of(const RequestHead& head) {
  // A WebSocket is kept under the method that it has over h2.
  return {.method = head.protocol.empty() ? head.method : "CONNECT",
          .scheme = head.scheme,
          .host = head.host,
          .port = head.port,
          .target = head.target};
}

WholeResponse whole_of(const PreparedExchange& chosen, StoredResponsePtr response) {
  auto const& reply = chosen.exchange().response;
  auto const& parts = response->parts();
  auto const size_bytes = parts.pieces ? reply.body.size_bytes : parts.body.bytes.size();
  return {.response = std::move(response),
          .recorded = reply.headers.list(),
          .size_bytes = size_bytes,
          .recorded_bytes = reply.body.size_bytes,
          .piece_bytes = chosen.piece_bytes()};
}

}  // namespace

Replay::Replay(const ArchiveReader& archive, Options options)
    : archive_(archive),
      matcher_(archive, options.session, std::move(options.match)),
      tls_plans_(archive, matcher_.session(), options.protocol),
      cursors_(archive.entries().size()),
      early_answers_(archive, matcher_.session()),
      ledger_(archive, matcher_.answering()),
      web_sockets_(archive),
      script_(std::move(options.script)),
      dates_(options.date_shift),
      scheduler_(archive, options.timing),
      prepared_(archive.entries().size(),
                [this](std::uint32_t ordinal) { return prepare(ordinal); }) {}

Replay::~Replay() = default;

std::unique_ptr<ConnectionHandler> Replay::open(const ConnectionInfo&) {
  return std::make_unique<Replayer>(*this);
}

std::size_t Replay::warm() {
  std::size_t left_out = 0;
  bool room = true;
  for (std::uint32_t ordinal = 0; ordinal < archive_.entries().size(); ++ordinal) {
    if (archive_.entries()[ordinal].session != matcher_.session()) continue;
    if (room) {
      room = warm_document(ordinal);
    } else {
      ++left_out;
    }
  }
  return left_out;
}

bool Replay::warm_document(std::uint32_t ordinal) {
  auto const exchange = prepared_.get(ordinal);
  if (script_) exchange->warm_document(*script_);
  prepared_.settle(ordinal, *exchange);
  return prepared_.has_room();
}

void Replay::warm_documents(const std::stop_token& stop) {
  if (!script_) return;
  for (std::uint32_t ordinal : archive_.ordinals_in_order()) {
    if (stop.stop_requested()) return;
    if (archive_.entries()[ordinal].session != matcher_.session()) continue;
    auto const exchange = archive_.exchange(ordinal);
    bool const may_be_document =
        exchange && inject::kind_of(exchange->response.status, exchange->response.headers.list(),
                                    inject::Destination::kDocument) != inject::Kind::kOther;
    if (may_be_document && !warm_document(ordinal)) return;
  }
}

void Replay::reset() {
  cursors_.reset();
  early_answers_.reset();
  ledger_.reset();
  web_sockets_.reset();
  documents_.reset();
}

ReplayReport Replay::report() const {
  ReplayReport report{.session = matcher_.session(),
                      .timing = scheduler_.timing(),
                      .counts = ledger_.counts(),
                      .synthesised = ledger_.synthesised(),
                      .tls_hosts = tls_plans_.hosts(),
                      .distinct_misses = ledger_.misses(),
                      .inexact_hits = ledger_.inexact_hits(),
                      .special_answers = ledger_.special_answers(),
                      .never_asked_for = ledger_.never_asked_for(kListedMax),
                      .web_sockets = web_sockets_.report()};
  documents_.visit([&](std::uint32_t ordinal, const InjectionCount& count) {
    report.documents.push_back({.url = ledger_.name_of(ordinal).url,
                                .destination = count.destination,
                                .served = count.served,
                                .report = count.report});
  });
  auto const moved = ledger_.out_of_order();
  report.out_of_order_count = moved.size();
  for (auto const ordinal : std::span(moved).first(std::min(moved.size(), kListedMax))) {
    report.out_of_order.push_back(ledger_.name_of(ordinal));
  }
  return report;
}

PreparedCache::Entry Replay::prepare(std::uint32_t ordinal) {
  return std::make_shared<const PreparedExchange>(
      archive_, ordinal, dates_, scheduler_,
      [this](const StoredRequest& request, const std::string& problem) {
        ledger_.turn_hit_into_miss(request, problem);
      },
      [this, ordinal](const Form& form, const inject::RewriteReport& report) {
        return documents_.of(ordinal, form, report);
      });
}

Decision Replay::find(const MatchKey& key, HeaderList headers) {
  return matcher_.match(key, headers, cursors_, [this, &key](std::uint32_t ordinal) {
    auto const entry = prepared_.get(ordinal);
    const StoredRequest& request = entry->exchange().request;
    // A record that cannot be read has only its hash to speak for it, which is enough to tell what
    // the miss is due to.
    if (request.method.empty()) return true;
    return request.target == key.target && request.host == key.host &&
           request.method == key.method && request.scheme == key.scheme &&
           request.port == key.port && key_of(request).body_digest == key.body_digest &&
           !request.body_partial;
  });
}

Decision Replay::find_early(const RequestHead& head) {
  auto length = std::uint64_t{kNormalisedBodyBytesMax} + 1;
  if (auto const text = find_header(head.headers, "Content-Length")) {
    std::from_chars(text->data(), text->data() + text->size(), length);
  }
  // Where the origin refused it unseen, asking for the content would be another conversation.
  bool const waits = header_has_token(head.headers, "Expect", "100-continue");
  if (!waits && length <= kNormalisedBodyBytesMax) return {};  // it is here soon
  auto const answer = early_answers_.next(key_of(head));
  if (!answer || (waits && !prepared_.get(*answer)->exchange().request.body_partial)) return {};
  return {.kind = MatchKind::kExact, .ordinal = *answer, .score = 100};
}

StoredResponsePtr Replay::choose_form(const PreparedCache::Entry& chosen, std::uint32_t ordinal,
                                      const RequestHead& head) {
  auto const form = chosen->form_for(head, script_.has_value());
  const auto* const altered = chosen->altered(script_ ? &*script_ : nullptr, form);
  if (altered == nullptr) return {chosen, chosen->response()};
  prepared_.settle(ordinal, *chosen);
  if (altered->count != nullptr) altered->count->served.fetch_add(1, std::memory_order_relaxed);
  if (!altered->response) return {chosen, chosen->response()};
  auto const& report = altered->rewritten.report;
  if (report.verdict == inject::Verdict::kRewritten) ledger_.add_injected(report.added_wire_bytes);
  if (form.plain) ledger_.add_decoded();
  return {chosen, altered->response.get()};
}

StoredResponsePtr Replay::stored(const RequestHead& head, Decision& found) {
  // To be looked at.
  if (is_conditional_or_partial(head.headers) ||
      find_header(head.headers, "Available-Dictionary")) {
    return nullptr;
  }
  auto const decision = find(key_of(head), head.headers);
  if (decision.kind == MatchKind::kMiss) return nullptr;
  auto const chosen = prepared_.get(decision.ordinal);
  if (!chosen->fits_all() || !chosen->schedule().is_at_once()) {
    found = decision;
    return nullptr;
  }
  auto response = choose_form(chosen, decision.ordinal, head);
  if (response != nullptr) ledger_.add_hit(decision, chosen->exchange(), head.version);
  return response;
}

Task<void> Replay::serve(const RequestHead& head, Arrival arrival, BodyReader& body,
                         ResponseWriter& writer) {
  AskedRequest asked{.key = key_of(head), .headers = head.headers};
  HeldBody content(held_bytes_, matcher_.compares_bodies());
  Decision decision = arrival.found;
  auto whole_at = arrival.at;
  // What follows a switch of protocols is no content.
  bool const switches = !head.protocol.empty();
  bool const has_content = !switches && !body.finished();
  if (decision.kind == MatchKind::kMiss && has_content) decision = find_early(head);
  if (decision.kind == MatchKind::kMiss) {
    if (has_content) {
      auto const read = co_await content.read(body);
      if (!read) co_return fail(read.error());
      whole_at = std::chrono::steady_clock::now();
    }
    content.describe(asked);
    PreparedCache::Entry looked_at;
    decision = matcher_.decide(asked, cursors_, [this, &looked_at](std::uint32_t ordinal) {
      looked_at = prepared_.get(ordinal);
      const StoredRequest& request = looked_at->exchange().request;
      return request.method.empty() ? nullptr : &request;
    });
  }
  if (decision.kind == MatchKind::kMiss && head.method == "HEAD") {
    MatchKey get = asked.key;
    get.method = "GET";
    decision = find(get, head.headers);
  }
  if (decision.kind == MatchKind::kMiss) {
    co_return co_await answer_unmatched(asked, writer);
  }
  auto const entry = prepared_.get(decision.ordinal);
  const PreparedExchange& chosen = *entry;
  if (switches && opens_web_socket(chosen.exchange()) && chosen.response() != nullptr) {
    count_hit(decision, chosen.exchange(), asked, head.version);
    TimedResponse timed(chosen.schedule(), whole_at, writer, ledger_);
    if (auto const waited = co_await timed.think(); !waited) co_return waited;
    co_return co_await web_sockets_.serve(chosen.exchange(), chosen.response()->parts().head, head,
                                          body, writer);
  }
  bool const sure = chosen.fits_all() && !find_header(head.headers, "Available-Dictionary");
  if (!sure && chosen.problem().empty()) {
    co_return co_await serve_other_form(decision, asked, head, whole_at, writer);
  }
  co_return co_await serve_chosen(decision, asked, head, whole_at, writer);
}

Task<void> Replay::serve_chosen(const Decision& decision, const AskedRequest& asked,
                                const RequestHead& head, Time whole_at, ResponseWriter& writer) {
  auto const entry = prepared_.get(decision.ordinal);
  const PreparedExchange& chosen = *entry;
  const Exchange& exchange = chosen.exchange();
  auto response = chosen.broken() ? StoredResponsePtr(entry, chosen.response())
                                  : choose_form(entry, decision.ordinal, head);
  if (response == nullptr && !chosen.broken()) {
    co_return co_await send_miss(ledger_.add_damaged(asked, chosen.problem()), writer);
  }
  count_hit(decision, exchange, asked, head.version);
  if (!chosen.broken()) {
    co_return co_await send(chosen, std::move(response), head, whole_at, writer);
  }
  bool const failed = exchange.outcome == Outcome::kOriginFailed;
  ledger_.add_special(failed ? Special::kFailed : Special::kCut, asked.key, exchange.failure);
  TimedResponse timed(chosen.schedule(), whole_at, writer, ledger_);
  auto const until = whole_at + patience_of(exchange);
  if (response == nullptr) co_return co_await break_off(until, writer);
  auto const whole = whole_of(chosen, response);
  if (head.method == "HEAD") {
    if (auto const waited = co_await timed.think(); !waited) co_return waited;
    if (auto const sent = co_await writer.send_head(response->parts().head); !sent) co_return sent;
    co_return co_await writer.finish({});
  }
  if (auto const sent = co_await timed.send_unfinished(whole); !sent) co_return sent;
  co_return co_await break_off(until, writer);
}

void Replay::count_hit(const Decision& decision, const Exchange& exchange,
                       const AskedRequest& asked, HttpVersion version) {
  ledger_.add_hit(decision, exchange, version);
  if (decision.kind == MatchKind::kFuzzy || decision.scheme_substituted) {
    ledger_.add_inexact_hit(decision, exchange, asked, matcher_.rules());
  }
}

Headers Replay::moved_back(HeaderList headers) const {
  std::deque<std::string> moved;
  std::vector<HeaderView> fields(headers.begin(), headers.end());
  for (HeaderView& field : fields) {
    if (auto back = dates_.moved_back(field.name, field.value)) {
      field.value = moved.emplace_back(std::move(*back));
    }
  }
  return Headers(HeaderList(fields));
}

Task<void> Replay::send(const PreparedExchange& chosen, StoredResponsePtr response,
                        const RequestHead& head, Time whole_at, ResponseWriter& writer) {
  auto const& parts = response->parts();
  bool const from_get = head.method == "HEAD" && chosen.exchange().request.method == "GET";
  bool const selective = parts.head.status == 200 && is_conditional_or_partial(head.headers) &&
                         chosen.exchange().request.method == "GET";
  TimedResponse timed(chosen.schedule(), whole_at, writer, ledger_);
  auto const whole = whole_of(chosen, std::move(response));
  if (!selective && !from_get) co_return co_await timed.send(whole);
  if (auto const waited = co_await timed.think(); !waited) co_return waited;
  ledger_.add_derived();
  if (!selective) {
    if (auto const sent = co_await writer.send_head(parts.head); !sent) co_return sent;
    co_return co_await writer.finish({});
  }
  auto const fields = moved_back(head.headers);
  RequestHead asked = head;
  asked.headers = fields.list();
  co_return co_await send_selected(asked, whole, writer);
}

Task<void> Replay::answer_misdirected(const RequestHead& head, const std::string& connection_host,
                                      ResponseWriter& writer) {
  ledger_.add_misdirected();
  auto const text = "reprise: " + std::string(head.host) +
                    " cannot be requested on a connection to " + connection_host + "\n";
  co_return co_await send_text(writer, 421, text);
}

}  // namespace reprise
