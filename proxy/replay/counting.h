#pragma once

#include "archive/match/match.h"
#include "proxy/replay/answer.h"
#include "proxy/replay/ledger.h"

namespace reprise {

/// Tells `ledger` of the answer that `asked` gets over `version`: each answer once, before it is
/// sent. The time that it then waits is counted as it passes (TimedResponse). Allocates nothing
/// where the exact exchange answers. Thread-safe.
void count(const Answer& answer, const AskedRequest& asked, HttpVersion version,
           const MatchRules& rules, ReplayLedger& ledger);

}  // namespace reprise
