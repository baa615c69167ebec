#pragma once

#include "proxy/http/handler.h"
#include "proxy/replay/ledger.h"

namespace reprise {

/// Answers with a 404 without a body, for clients that count bytes: the reason is in a field
/// X-Reprise-Miss, the nearest candidates in fields X-Reprise-Near, each cut at 1 KiB.
Task<void> send_empty_miss(const Miss& miss, ResponseWriter& writer);

}  // namespace reprise
