#include "proxy/replay/timed_response.h"

#include <algorithm>

namespace reprise {

using Clock = std::chrono::steady_clock;

Task<void> TimedResponse::wait_until(Time at, Wait kind) {
  auto const now = Clock::now();
  if (now >= at) co_return Result<void>{};
  auto const waited = co_await writer_.pause_until(at);
  ledger_.add_wait(kind, Clock::now() - now);
  co_return waited;
}

Task<void> TimedResponse::send(const WholeResponse& whole) {
  auto const& parts = whole.response->parts();
  if (schedule_.steps.empty() && parts.interim.empty()) {
    if (auto const waited = co_await think(); !waited) co_return waited;
    co_return co_await writer_.send_stored(whole.response);
  }
  if (auto const sent = co_await send_heads(whole); !sent) co_return sent;
  if (auto const sent = co_await send_steps(whole); !sent) co_return sent;
  co_return co_await writer_.finish(parts.trailers);
}

Task<void> TimedResponse::send_unfinished(const WholeResponse& whole) {
  if (auto const sent = co_await send_heads(whole); !sent) co_return sent;
  if (auto const sent = co_await send_steps(whole); !sent) co_return sent;
  co_return co_await writer_.write({});
}

Task<void> TimedResponse::send_heads(const WholeResponse& whole) {
  auto const& parts = whole.response->parts();
  for (std::size_t i = 0; i < parts.interim.size(); ++i) {
    auto const due = whole_at_ + std::min(schedule_.interim[i], head_after_);
    auto const waited = co_await wait_until(due, Wait::kThink);
    if (!waited) co_return waited;
    if (auto const sent = co_await writer_.send_head(parts.interim[i]); !sent) co_return sent;
  }
  if (auto const waited = co_await think(); !waited) co_return waited;
  co_return co_await writer_.send_head(parts.head);
}

Task<void> TimedResponse::send_steps(const WholeResponse& whole) {
  auto const head_at = Clock::now();
  bool const decoded = find_header(whole.recorded, "content-encoding") &&
                       !find_header(whole.response->parts().head.headers, "content-encoding");
  std::uint64_t sent_bytes = 0;
  for (const Schedule::Step& step : schedule_.steps) {
    auto const due = head_at + step.after_head;
    bool const shares_wake = schedule_.piecewise && due > Clock::now();
    auto const at = shares_wake ? Schedule::wake_at(due) : due;
    auto const waited = co_await wait_until(at, Wait::kPause);
    if (!waited) co_return waited;
    auto const end = end_in_form(step.end_bytes, whole.recorded_bytes, whole.size_bytes, decoded);
    auto const sent = co_await write_range(whole, {.begin = sent_bytes, .end = end}, writer_);
    if (!sent) co_return sent;
    sent_bytes = end;
  }
  co_return co_await write_range(whole, {.begin = sent_bytes, .end = whole.size_bytes}, writer_);
}

}  // namespace reprise
