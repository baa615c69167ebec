#pragma once

// Replays cut and failed exchanges as far as they were recorded: archive/match/MATCHING.md, "Cut
// and failed exchanges".

#include <chrono>

#include "archive/exchange.h"
#include "proxy/http/handler.h"

namespace reprise {

/// The longest that a client is kept waiting for what never came.
inline constexpr std::chrono::hours kPatienceMax{1};

/// How long after its request a client gave up, where it was the client that cut the exchange: at
/// most kPatienceMax. Zero where it was not, or nothing is known.
std::chrono::nanoseconds patience_of(const Exchange& exchange);

/// Ends a response that is to have no end, at `until` or when the client is gone: always an error,
/// which closes the connection (h1) or resets the stream (h2).
Task<void> break_off(std::chrono::steady_clock::time_point until, ResponseWriter& writer);

}  // namespace reprise
