#pragma once

// The critical chain: what a view waited for, one thing at a time, from its start to its end. It
// ends with the request that ended last in the window. Before each request comes the one that made
// it possible:
//  - the hop that redirected to it;
//  - else its initiator, if that was still arriving;
//  - else, of the scripts and style sheets of the same initiator that ended between the initiator's
//    end and this request's start, the last one: it blocked the initiator;
//  - else its initiator;
//  - else, if no initiator is known, the request that ended last before this one started.
// Between requests the chain goes through the main thread. Inside a call it goes through the calls
// that ended last, as in a trace of spans. Pure.

#include <cstdint>
#include <vector>

#include "analysis/calls/call.h"

namespace reprise {

/// One request of the chain, by its place in the tree.
struct ChainLink {
  enum class Why : std::uint8_t { kFirst, kRedirected, kStarted, kHeldUp, kEndedBefore };
  std::uint32_t call = 0;
  Why why = Why::kFirst;  ///< how the previous link made this one possible
  std::int64_t from_us = 0;
  std::int64_t until_us = 0;  ///< the view waited for it from `from_us` to here
};

/// In the order of time. Empty if there are no requests. `tree` is normalized.
std::vector<ChainLink> critical_chain(const CallTree& tree);

/// The parts of the chain, in us. The sum of both is the window.
struct ChainShares {
  std::vector<std::int64_t> calls;  ///< of each call, without those inside it
  std::int64_t gap_us = 0;
};
/// Of a tree without requests, the chain goes through its outermost calls.
ChainShares share_chain(const CallTree& tree);

}  // namespace reprise
