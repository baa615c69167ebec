#include "proxy/replay/counting.h"

#include <spdlog/spdlog.h>

#include "proxy/replay/response/stitched_parts.h"

namespace reprise {
namespace {

void count_form(const ServedForm& form, ReplayLedger& ledger) {
  if (form.altered == nullptr) return;
  const AlteredResponse& altered = *form.altered;
  if (altered.count != nullptr) altered.count->served.fetch_add(1, std::memory_order_relaxed);
  if (!altered.response) return;
  auto const& report = altered.rewritten.report;
  if (report.verdict == inject::Verdict::kRewritten) ledger.add_injected(report.added_wire_bytes);
  if (form.plain) ledger.add_decoded();
}

void count_hit(const Answer& answer, const AskedRequest& asked, HttpVersion version,
               const MatchRules& rules, ReplayLedger& ledger) {
  const Decision& decision = answer.decision;
  auto const& exchange = answer.exchange->exchange();
  count_form(answer.form, ledger);
  ledger.add_hit(decision, exchange, version);
  if (decision.kind == MatchKind::kFuzzy || decision.scheme_substituted) {
    ledger.add_inexact_hit(decision, exchange, asked, rules);
  }
}

void log_miss(const Miss& miss) {
  spdlog::info("miss: {} {} ({})", miss.method, miss.url, miss.reason);
}

}  // namespace

void count(const Answer& answer, const AskedRequest& asked, HttpVersion version,
           const MatchRules& rules, ReplayLedger& ledger) {
  using enum Answer::Kind;
  switch (answer.kind) {
    case kStored:
    case kWebSocket:
      return count_hit(answer, asked, version, rules, ledger);
    case kHead:
    case kSelected:
      count_hit(answer, asked, version, rules, ledger);
      return ledger.add_derived();
    case kStitched: {
      count_hit(answer, asked, version, rules, ledger);
      auto const& parts = *answer.parts;
      return ledger.add_special(
          Special::kStitched, asked.key,
          parts.coverage() + ", from " + std::to_string(parts.parts()) + " recorded parts");
    }
    case kBroken:
    case kBrokenHead: {
      count_hit(answer, asked, version, rules, ledger);
      auto const& exchange = answer.exchange->exchange();
      bool const failed = exchange.outcome == Outcome::kOriginFailed;
      return ledger.add_special(failed ? Special::kFailed : Special::kCut, asked.key,
                                exchange.failure);
    }
    case kMadeUp:
      return ledger.add_special(answer.made_up.special, asked.key, answer.made_up.why);
    case kMisdirected:
      return ledger.add_misdirected();
    case kDamaged:
      log_miss(answer.miss);
      return ledger.add_damaged(asked, answer.miss);
    case kMiss:
      log_miss(answer.miss);
      return ledger.add_miss(asked, answer.miss);
  }
}

}  // namespace reprise
