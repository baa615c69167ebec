#pragma once

#include <chrono>

#include "proxy/replay/ledger.h"
#include "proxy/replay/response/schedule.h"
#include "proxy/replay/response/selected_response.h"

namespace reprise {

/// Sends one response when it is due. Borrows everything.
class TimedResponse {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// `whole_at`: when the request was complete, the start of the schedule.
  TimedResponse(const Schedule& schedule, Time whole_at, ResponseWriter& writer,
                ReplayLedger& ledger)
      : schedule_(schedule),
        head_after_(schedule.draws ? schedule.draws->next() : schedule.head),
        whole_at_(whole_at),
        writer_(writer),
        ledger_(ledger) {}

  /// Waits until the final head is due. Errors: the client has closed.
  Task<void> think() { return wait_until(whole_at_ + head_after_, Wait::kThink); }

  /// Sends all of `whole`, including think time. A client that is slower than the recorded pace
  /// delays it, and gets overdue data as fast as it accepts it. Errors: the writer's; the archive's
  /// if a piece is damaged.
  Task<void> send(const WholeResponse& whole);
  /// The same without the end. Sent bytes have left, and an abort does not discard them.
  Task<void> send_unfinished(const WholeResponse& whole);

 private:
  Task<void> wait_until(Time at, Wait kind);
  Task<void> send_heads(const WholeResponse& whole);
  Task<void> send_steps(const WholeResponse& whole);

  const Schedule& schedule_;
  std::chrono::nanoseconds head_after_;
  Time whole_at_;
  ResponseWriter& writer_;
  ReplayLedger& ledger_;
};

}  // namespace reprise
