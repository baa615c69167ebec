#include "proxy/replay/replay_session.h"

#include <algorithm>
#include <span>

#include "proxy/replay/counting.h"
#include "proxy/replay/replay_connection.h"
#include "proxy/replay/response/held_body.h"

namespace reprise {

ReplaySession::ReplaySession(const ArchiveReader& archive, Options options)
    : matcher_(archive, options.session, std::move(options.match)),
      tls_plans_(archive, matcher_.session(), options.protocol, options.tls),
      ledger_(archive, matcher_.answering()),
      web_sockets_(archive),
      exchanges_(archive,
                 {.script = std::move(options.script),
                  .timing = options.timing,
                  .date_shift = options.date_shift,
                  .h3_offers = std::move(options.tls.h3_offers),
                  .changed_bodies = std::move(options.changed_bodies)},
                 on_damage()),
      files_(archive, exchanges_, matcher_.rules().failures, on_damage()),
      sequences_(archive, matcher_.session()),
      chooser_({.archive = archive,
                .matcher = matcher_,
                .tls_plans = tls_plans_,
                .exchanges = exchanges_,
                .files = files_}),
      sender_(ledger_, web_sockets_, options.empty_misses) {}

PreparedExchange::OnDamage ReplaySession::on_damage() {
  return [this](const StoredRequest& request, const std::string& problem) {
    ledger_.turn_hit_into_miss(request, problem);
  };
}

std::unique_ptr<ConnectionHandler> ReplaySession::open(const ConnectionInfo&) {
  return std::make_unique<ReplayConnection>(*this);
}

void ReplaySession::reset() {
  sequences_.reset();
  ledger_.reset();
  web_sockets_.reset();
  exchanges_.reset();
}

ReplayReport ReplaySession::report() const {
  ReplayReport report{.session = matcher_.session(),
                      .timing = exchanges_.timing(),
                      .counts = ledger_.counts(),
                      .synthesised = ledger_.synthesised(),
                      .tls_hosts = tls_plans_.hosts(),
                      .distinct_misses = ledger_.misses(),
                      .inexact_hits = ledger_.inexact_hits(),
                      .special_answers = ledger_.special_answers(),
                      .never_asked_for = ledger_.never_asked_for(kListedMax),
                      .web_sockets = web_sockets_.report()};
  exchanges_.documents().visit([&](std::uint32_t ordinal, const InjectionCount& count) {
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

StoredResponsePtr ReplaySession::stored(const RequestHead& head, AskedConnection& connection) {
  auto answer = chooser_.choose_prepared(head, connection, sequences_);
  if (!answer) return nullptr;
  AskedRequest const asked{.key = key_of(head), .headers = head.headers};
  count(*answer, asked, head.version, matcher_.rules(), ledger_);
  return std::move(answer->form.response);
}

Task<void> ReplaySession::serve(const RequestHead& head, AskedConnection& connection, Time arrived,
                                BodyReader& body, ResponseWriter& writer) {
  AskedRequest asked{.key = key_of(head), .headers = head.headers};
  HeldBody content(held_bytes_, matcher_.compares_bodies());
  auto whole_at = arrived;
  // Bytes after a switch of protocols are not content.
  bool const has_content = head.protocol.empty() && !body.finished();
  auto answer = chooser_.choose_by_head(head, connection, has_content, sequences_);
  if (!answer) {
    if (has_content) {
      auto const read = co_await content.read(body);
      if (!read) co_return fail(read.error());
      whole_at = std::chrono::steady_clock::now();
    }
    content.describe(asked);
    answer = chooser_.choose(head, asked, sequences_);
  }
  count(*answer, asked, head.version, matcher_.rules(), ledger_);
  co_return co_await sender_.send(*answer, head, whole_at, body, writer);
}

}  // namespace reprise
