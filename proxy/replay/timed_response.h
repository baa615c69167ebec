#pragma once

#include <chrono>

#include "proxy/replay/ledger.h"
#include "proxy/replay/response/schedule.h"
#include "proxy/replay/response/selected_response.h"

namespace reprise {

/// Lets one response out when it is due. All that is borrowed outlives it.
class TimedResponse {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// `whole_at`: when the request was whole, which the schedule counts from.
  TimedResponse(const Schedule& schedule, Time whole_at, ResponseWriter& writer,
                ReplayLedger& ledger)
      : schedule_(schedule), whole_at_(whole_at), writer_(writer), ledger_(ledger) {}

  /// Waits until the final head is due. Errors: the client has gone away.
  Task<void> think() { return wait_until(whole_at_ + schedule_.head, Wait::kThink); }

  /// Sends all of `whole`, think time included. A client that is slower than the recorded pace
  /// holds it up, and gets what is overdue as fast as it takes it. Errors: the writer's; the
  /// archive's where a piece is damaged.
  Task<void> send(const WholeResponse& whole);
  /// The same without the end. What was sent has gone, and an abort does not take it back.
  Task<void> send_unfinished(const WholeResponse& whole);

 private:
  Task<void> wait_until(Time at, Wait kind);
  Task<void> send_heads(const WholeResponse& whole);
  Task<void> send_steps(const WholeResponse& whole);

  const Schedule& schedule_;
  Time whole_at_;
  ResponseWriter& writer_;
  ReplayLedger& ledger_;
};

}  // namespace reprise
