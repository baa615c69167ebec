#pragma once

#include "archive/match/match.h"
#include "proxy/replay/answer.h"
#include "proxy/replay/ledger.h"

namespace reprise {

/// Counts in `ledger` the answer to `asked` over `version`: once per answer, before it is sent. Its
/// waiting time is counted as it passes (TimedResponse). Allocates nothing for an exact exchange.
/// Thread-safe.
void count(const Answer& answer, const AskedRequest& asked, HttpVersion version,
           const MatchRules& rules, ReplayLedger& ledger);

}  // namespace reprise
