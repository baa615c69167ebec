#pragma once

// Replays cut and failed exchanges as far as they were recorded: archive/match/MATCHING.md, "Cut
// and failed exchanges".

#include <chrono>

#include "archive/exchange.h"
#include "proxy/http/handler.h"

namespace reprise {

/// The longest wait of a client for the missing rest.
inline constexpr std::chrono::hours kPatienceMax{1};

/// How long after its request the client gave up, if the client cut the exchange: at most
/// kPatienceMax. Zero if it did not, or if the time is unknown.
std::chrono::nanoseconds patience_of(const Exchange& exchange);

/// Ends a response without its end, at `until` or when the client closes: always an error, which
/// closes the connection (h1) or resets the stream (h2, h3).
Task<void> break_off(std::chrono::steady_clock::time_point until, ResponseWriter& writer);

}  // namespace reprise
