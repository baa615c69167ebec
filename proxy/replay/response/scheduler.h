#pragma once

#include "archive/think_time.h"
#include "proxy/replay/response/schedule.h"

namespace reprise {

/// Makes the schedules for an archive, with round trips from its connections. Immutable, so
/// thread-safe.
class Scheduler {
 public:
  Scheduler(const ArchiveReader& archive, const Timing& timing)
      : timing_(timing), round_trips_(archive) {}

  Schedule schedule_of(const Exchange& exchange) const {
    return make_schedule(exchange, round_trips_.to_origin_of(exchange), timing_);
  }
  const Timing& timing() const { return timing_; }

 private:
  Timing timing_;
  RoundTrips round_trips_;
};

}  // namespace reprise
