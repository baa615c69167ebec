#include "analysis/prediction/main_thread.h"

#include <algorithm>
#include <iterator>

namespace reprise {
namespace {

/// A shorter pause is one between two tasks that were both waiting.
constexpr std::int64_t kPauseUs = 10'000;

}  // namespace

MainThread::MainThread(const CallTree& calls) {
  for (Call const& call : calls.calls) {
    bool const is_outermost =
        call.kind == CallKind::kTask &&
        (call.parent == kNoParent || calls.calls[call.parent].kind != CallKind::kTask);
    if (!is_outermost) continue;
    work_.push_back(
        {.start_us = call.start_us, .end_us = call.end_us, .processor_us = processor_us(call)});
    tasks_.push_back({.start_us = call.start_us, .end_us = call.end_us});
  }
  std::ranges::sort(tasks_, {}, &Task::start_us);
  for (Call const& call : calls.calls) {
    if (call.kind != CallKind::kTask) continue;
    if (call.name == "parse") {
      parsing_.push_back({.start_us = call.start_us, .end_us = call.end_us});
    }
    auto const* const task = call.name == "layout" ? task_at(call.start_us) : nullptr;
    if (task != nullptr) tasks_[static_cast<std::size_t>(task - tasks_.data())].lays_out = true;
  }
  std::ranges::sort(work_, {}, &Interval::start_us);
  std::size_t kept = 0;
  for (Interval const& each : work_) {
    if (kept == 0 || each.start_us > work_[kept - 1].end_us) {
      work_[kept++] = each;
      continue;
    }
    Interval& last = work_[kept - 1];
    last.end_us = std::max(last.end_us, each.end_us);
    last.processor_us = std::min(last.processor_us + each.processor_us,
                                 static_cast<double>(last.end_us - last.start_us));
  }
  work_.resize(kept);
  Work sum;
  for (Interval const& each : work_) {
    before_.push_back(sum);
    sum.busy_us += static_cast<double>(each.end_us - each.start_us);
    sum.processor_us += each.processor_us;
  }
}

const MainThread::Task* MainThread::task_at(std::int64_t at_us) const {
  auto const next = std::ranges::upper_bound(tasks_, at_us, {}, &Task::start_us);
  if (next == tasks_.begin() || std::prev(next)->end_us < at_us) return nullptr;
  return &*std::prev(next);
}

std::int64_t MainThread::parsed_us(std::int64_t before_us) const {
  std::int64_t parsed_us = 0;
  for (Task const& each : parsing_) {
    if (each.start_us < before_us) parsed_us = std::max(parsed_us, each.end_us);
  }
  return parsed_us;
}

MainThread::Work MainThread::work_between(std::int64_t from_us, std::int64_t to_us) const {
  if (!is_known()) {
    auto const all = static_cast<double>(std::max<std::int64_t>(to_us - from_us, 0));
    return {.busy_us = all, .processor_us = all};
  }
  auto const before = work_until(from_us);
  auto const all = work_until(std::max(from_us, to_us));
  return {.busy_us = all.busy_us - before.busy_us,
          .processor_us = all.processor_us - before.processor_us};
}

MainThread::Work MainThread::work_until(std::int64_t at_us) const {
  auto const next = std::ranges::upper_bound(work_, at_us, {}, &Interval::start_us);
  if (next == work_.begin()) return {};
  auto const place = std::prev(next) - work_.begin();
  Interval const& last = work_[static_cast<std::size_t>(place)];
  Work sum = before_[static_cast<std::size_t>(place)];
  auto const length = static_cast<double>(std::max<std::int64_t>(last.end_us - last.start_us, 1));
  auto const part = static_cast<double>(std::min(at_us, last.end_us) - last.start_us);
  sum.busy_us += part;
  sum.processor_us += part * last.processor_us / length;
  return sum;
}

std::optional<std::int64_t> MainThread::busy_since(std::int64_t from_us, std::int64_t to_us) const {
  auto first = std::ranges::upper_bound(work_, from_us, {}, &Interval::start_us);
  if (first == work_.begin()) return std::nullopt;
  --first;
  auto until_us = first->end_us;
  if (until_us + kPauseUs <= from_us) return std::nullopt;
  for (auto next = std::next(first); until_us < to_us; ++next) {
    bool const paused = next == work_.end() || next->start_us > until_us + kPauseUs;
    if (paused) {
      if (until_us + kPauseUs <= to_us) return std::nullopt;
      break;
    }
    until_us = next->end_us;
  }
  while (first != work_.begin() && std::prev(first)->end_us + kPauseUs >= first->start_us) --first;
  return first->start_us;
}

}  // namespace reprise
