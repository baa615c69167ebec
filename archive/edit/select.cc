#include "archive/edit/select.h"

#include <algorithm>

namespace reprise {

Result<ExchangeSelection> ExchangeSelection::make(const ArchiveReader& from, const Wanted& wanted) {
  ExchangeSelection made;
  made.exchanges_.resize(from.entries().size());
  std::size_t number = 0;
  for (auto const ordinal : from.ordinals_in_order()) {
    auto const exchange = from.exchange(ordinal);
    if (!exchange) return fail(exchange.error());
    Connection const connection(exchange->session, exchange->origin_connection_id);
    made.used_.insert(connection);
    if (!wanted(*exchange, ordinal, ++number)) {
      made.cut_.insert(exchange->session);
      continue;
    }
    made.exchanges_[ordinal] = true;
    ++made.count_;
    made.kept_.insert(connection);
    made.hosts_.emplace(exchange->session, exchange->request.host);
  }
  return made;
}

bool ExchangeSelection::has_connection(const ConnectionFacts& facts) const {
  Connection const connection(facts.session, facts.id);
  if (!cut_.contains(facts.session) || kept_.contains(connection)) return true;
  return !used_.contains(connection) && hosts_.contains({facts.session, facts.host});
}

bool ExchangeSelection::has_answer(const DnsAnswer& answer) const {
  return !cut_.contains(answer.session) || hosts_.contains({answer.session, answer.host});
}

bool ExchangeSelection::has_session(const SessionContents& session) const {
  return session.ordinals.empty() ||
         std::ranges::any_of(session.ordinals,
                             [this](std::uint32_t ordinal) { return has_exchange(ordinal); });
}

}  // namespace reprise
