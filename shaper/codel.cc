#include "shaper/codel.h"

#include <cmath>

namespace reprise {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

namespace {

constexpr nanoseconds kTarget = milliseconds(5);
constexpr nanoseconds kInterval = milliseconds(100);

}  // namespace

Codel::Codel(const ActiveQueue& settings)
    : target_(settings.target > nanoseconds(0) ? settings.target : kTarget),
      interval_(settings.interval > nanoseconds(0) ? settings.interval : kInterval) {}

Waiting Codel::dequeue(WaitingQueue& queue, nanoseconds now, std::vector<Waiting>& dropped) {
  Candidate next = take(queue, now);
  if (dropping_) {
    if (!next.ok_to_drop) dropping_ = false;
    while (dropping_ && now >= drop_next_) {
      dropped.push_back(next.packet);
      ++count_;
      next = take(queue, now);
      if (next.ok_to_drop) {
        drop_next_ = control_law(drop_next_, count_);
      } else {
        dropping_ = false;
      }
    }
  } else if (next.ok_to_drop) {
    dropped.push_back(next.packet);
    next = take(queue, now);
    dropping_ = true;
    // A queue that was congested shortly before resumes near its previous rate of drops.
    auto const more = count_ - last_count_;
    count_ = more > 1 && now - drop_next_ < 16 * interval_ ? more : 1;
    drop_next_ = control_law(now, count_);
    last_count_ = count_;
  }
  return next.packet;
}

Codel::Candidate Codel::take(WaitingQueue& queue, nanoseconds now) {
  Candidate result{.packet = queue.pop(), .ok_to_drop = false};
  if (now - result.packet.arrived < target_ || queue.bytes() <= kMtuBytes) {
    first_above_time_.reset();
  } else if (!first_above_time_) {
    first_above_time_ = now + interval_;
  } else {
    result.ok_to_drop = now >= *first_above_time_;
  }
  return result;
}

nanoseconds Codel::control_law(nanoseconds from, std::uint32_t count) const {
  auto const step = static_cast<double>(interval_.count()) / std::sqrt(static_cast<double>(count));
  return from + nanoseconds(std::llround(step));
}

}  // namespace reprise
