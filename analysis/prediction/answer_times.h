#pragma once

// When the answers of a load came to the link, by when they came out of it. Pure. Times are in us,
// as real numbers.

#include <cstddef>
#include <span>
#include <vector>

#include "analysis/prediction/sent_again.h"

namespace reprise {

struct ObservedAnswer {
  double asked_us = 0;  ///< when its request was at the server
  double first_byte_us = 0, end_us = 0;
  std::size_t connection = 0;  ///< any number; answers with the same one share it
  double bytes = 0;
  TransferPriority priority;
  bool is_ordered = false;   ///< its connection sends by priority: HTTP/2, and it is known
  bool can_be_held = false;  ///< one that goes first can be the reason that it is late
};

struct AnswerTimes {
  std::vector<double> at_us;  ///< when the server had each one ready
  SentAgain sent;             ///< what comes of it
};

/// What waited for others, in the link's queue or behind more urgent responses, can have come at
/// any time until then: the server takes the least that explains when first bytes were observed. A
/// server of HTTP/2 sends a response after those that go first: if one of them began before it, it
/// was not ready before that one was. `answers` in the order of their requests.
AnswerTimes answer_times(const SentOver& over, std::span<const ObservedAnswer> answers,
                         std::span<const double> probes_us);

}  // namespace reprise
