#include "proxy/replay/response/prepared_exchanges.h"

#include "inject/response.h"

namespace reprise {

PreparedExchanges::PreparedExchanges(const ArchiveReader& archive, Options options,
                                     PreparedExchange::OnDamage on_damage)
    : archive_(archive),
      script_(std::move(options.script)),
      dates_(options.date_shift),
      h3_offers_(std::move(options.h3_offers)),
      scheduler_(archive, options.timing),
      on_damage_(std::move(on_damage)),
      cache_(archive.entries().size(), [this](std::uint32_t ordinal) { return prepare(ordinal); }) {
  for (const IndexEntry& entry : archive.entries()) {
    has_changed_body_.push_back(options.changed_bodies.contains(entry.sequence));
  }
}

PreparedCache::Entry PreparedExchanges::prepare(std::uint32_t ordinal) {
  return std::make_shared<const PreparedExchange>(
      archive_, ordinal, dates_, scheduler_, h3_offers_, on_damage_,
      [this, ordinal](const Form& form, const inject::RewriteReport& report) {
        return documents_.of(ordinal, form, report);
      });
}

ServedForm PreparedExchanges::form_for(const RequestHead& request,
                                       const PreparedCache::Entry& exchange,
                                       std::uint32_t ordinal) {
  auto const form = exchange->form_for(request, script_.has_value());
  ServedForm served{.response = {exchange, exchange->response()},
                    .altered = exchange->altered(script_ ? &*script_ : nullptr, form),
                    .plain = form.plain,
                    .is_rewritten = has_changed_body_[ordinal]};
  if (served.altered == nullptr) return served;
  cache_.settle(ordinal, *exchange);
  if (!served.altered->response) return served;
  served.response = {exchange, served.altered->response.get()};
  if (served.altered->rewritten.report.verdict == inject::Verdict::kRewritten) {
    served.is_rewritten = true;
  }
  return served;
}

void PreparedExchanges::reset() {
  documents_.reset();
  if (auto const& rules = timing().rules) rules->restart_draws();
}

std::size_t PreparedExchanges::warm(std::uint32_t session, const std::function<bool()>& stop) {
  std::size_t left_out = 0;
  bool room = true;
  for (std::uint32_t ordinal = 0; ordinal < archive_.entries().size(); ++ordinal) {
    if (archive_.entries()[ordinal].session != session) continue;
    if (stop && stop()) return 0;
    if (room) {
      room = warm_document(ordinal);
    } else {
      ++left_out;
    }
  }
  return left_out;
}

bool PreparedExchanges::warm_document(std::uint32_t ordinal) {
  auto const exchange = cache_.get(ordinal);
  if (script_) exchange->warm_document(*script_);
  cache_.settle(ordinal, *exchange);
  return cache_.has_room();
}

void PreparedExchanges::warm_documents(std::uint32_t session, const std::stop_token& stop) {
  if (!script_) return;
  for (std::uint32_t ordinal : archive_.ordinals_in_order()) {
    if (stop.stop_requested()) return;
    if (archive_.entries()[ordinal].session != session) continue;
    auto const exchange = archive_.exchange(ordinal);
    bool const may_be_document =
        exchange && inject::kind_of(exchange->response.status, exchange->response.headers.list(),
                                    inject::Destination::kDocument) != inject::Kind::kOther;
    if (may_be_document && !warm_document(ordinal)) return;
  }
}

}  // namespace reprise
