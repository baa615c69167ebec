#include "shaper/link.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace reprise {

using std::chrono::nanoseconds;

namespace {

/// The limit of packets in one link, so that a long delay at a high rate cannot exhaust memory.
constexpr std::uint64_t kHeldPacketsMax = 4U << 20;

LinkSettings sound(LinkSettings settings) {
  if (auto const defect = defect_of(settings)) {
    std::fprintf(stderr, "reprise: broken invariant: link settings: %s\n", defect->c_str());
    std::abort();
  }
  return settings;
}

}  // namespace

Link::Link(LinkSettings settings, std::uint64_t seed, std::uint64_t stream, nanoseconds start)
    : settings_(sound(std::move(settings))),
      jitter_random_(seed, stream, Purpose::jitter),
      queue_random_(seed, stream, Purpose::active_queue),
      loss_(settings_.loss, seed, stream),
      wire_(settings_, start),
      seen_(start),
      last_due_(start) {
  use_discipline(start);
}

Admission Link::enqueue(Packet packet, nanoseconds now) {
  run(now);
  auto const index = next_index_++;
  ++counters_.packets_in;
  counters_.bytes_in += packet.size_bytes;
  if (loss_.loses(index)) {
    ++counters_.lost;
    return Admission::lost;
  }
  if (wire_.is_off(now)) {
    ++counters_.outage_drops;
    return Admission::outage;
  }
  if (holds_most() || (busy_ && is_full(packet.size_bytes))) {
    ++counters_.queue_drops;
    return Admission::queue_full;
  }
  if (pie_ && busy_ && pie_->drops(index, queue_.bytes())) {
    ++counters_.aqm_drops;
    return Admission::aqm_drop;
  }
  queue_.push(
      {.handle = packet.handle, .arrived = now, .index = index, .size_bytes = packet.size_bytes});
  if (!busy_) start_next(now);
  return Admission::queued;
}

std::optional<nanoseconds> Link::next_event() const {
  nanoseconds next = kNever;
  if (!told_later_.empty()) next = told_later_.front().due;
  if (!in_order_.empty()) next = std::min(next, in_order_.front().due);
  if (!overtaking_.empty()) next = std::min(next, overtaking_.front().due);
  if (busy_) {
    // A later packet can overtake this one, but not by more than the jitter.
    next = std::min(next, settings_.reorder ? departs_ + settings_.delay : due_of_current());
    if (!changes_.empty()) next = std::min(next, changes_.front().at);
  }
  return next == kNever ? std::nullopt : std::optional(next);
}

void Link::take_due(nanoseconds now, std::vector<Departure>& out) {
  run(now);
  out.insert(out.end(), told_later_.begin(), told_later_.end());
  told_later_.clear();
  for (;;) {
    bool const from_heap = !overtaking_.empty() &&
                           (in_order_.empty() || overtaking_.front().due < in_order_.front().due);
    if (!from_heap && in_order_.empty()) return;
    Flight const flight = from_heap ? overtaking_.front() : in_order_.front();
    if (flight.due > now) return;
    if (from_heap) {
      std::pop_heap(overtaking_.begin(), overtaking_.end());
      overtaking_.pop_back();
    } else {
      in_order_.pop_front();
    }
    ++counters_.packets_out;
    counters_.bytes_out += flight.size_bytes;
    out.push_back({.handle = flight.handle, .left = flight.left, .due = flight.due});
  }
}

void Link::change(LinkSettings settings, nanoseconds at) {
  at = std::max(at, changes_.empty() ? seen_ : changes_.back().at);
  changes_.push_back({.at = at, .settings = sound(std::move(settings))});
  run(seen_);
}

LinkCounters Link::counters() const {
  LinkCounters counters = counters_;
  counters.queued_packets = queue_.packets();
  counters.queued_bytes = queue_.bytes();
  counters.in_flight = (busy_ ? 1 : 0) + in_order_.size() + overtaking_.size();
  return counters;
}

void Link::run(nanoseconds until) {
  for (;;) {
    auto const departs = busy_ ? departs_ : kNever;
    auto const control_at = next_control();
    if (std::min(departs, control_at) > until) break;
    if (departs <= control_at) {
      finish_current();
    } else {
      control(control_at);
    }
  }
  seen_ = std::max(seen_, until);
}

nanoseconds Link::next_control() const {
  auto const change_at = changes_.empty() ? kNever : changes_.front().at;
  return pie_ && busy_ ? std::min(change_at, pie_->next_update()) : change_at;
}

void Link::control(nanoseconds at) {
  if (changes_.empty() || changes_.front().at > at) {
    pie_->update(queue_.empty());
    return;
  }
  bool const other_discipline = changes_.front().settings.active_queue != settings_.active_queue;
  settings_ = std::move(changes_.front().settings);
  changes_.erase(changes_.begin());
  loss_.change(settings_.loss);
  auto const departs = wire_.change(settings_, at, busy_);
  if (busy_) departs_ = departs;
  if (other_discipline) use_discipline(at);
}

void Link::use_discipline(nanoseconds now) {
  codel_.reset();
  pie_.reset();
  if (settings_.active_queue.discipline == QueueDiscipline::codel) {
    codel_.emplace(settings_.active_queue);
  } else if (settings_.active_queue.discipline == QueueDiscipline::pie) {
    pie_.emplace(settings_.active_queue, queue_random_, now);
  }
}

bool Link::is_full(std::uint32_t size_bytes) const {
  auto const& limit = settings_.queue;
  if (limit.packets > 0 && queue_.packets() >= limit.packets) return true;
  return limit.bytes > 0 && queue_.bytes() + size_bytes > limit.bytes;
}

bool Link::holds_most() const {
  return queue_.packets() + in_order_.size() + overtaking_.size() >= kHeldPacketsMax;
}

void Link::start_next(nanoseconds at) {
  if (codel_) {
    current_ = codel_->dequeue(queue_, at, dropped_);
    for (const Waiting& packet : dropped_) {
      ++counters_.aqm_drops;
      told_later_.push_back(
          {.handle = packet.handle, .left = at, .due = at, .outcome = PacketFate::dropped});
    }
    dropped_.clear();
  } else {
    current_ = queue_.pop();
  }
  if (pie_) {
    if (!busy_) pie_->update_idle(at);
    pie_->left_queue(at - current_.arrived);
  }
  busy_ = true;
  departs_ = wire_.send(current_.size_bytes, current_.arrived);
}

void Link::finish_current() {
  Flight flight{.left = departs_,
                .due = due_of_current(),
                .handle = current_.handle,
                .index = current_.index,
                .size_bytes = current_.size_bytes};
  if (settings_.reorder) {
    overtaking_.push_back(flight);
    std::push_heap(overtaking_.begin(), overtaking_.end());
  } else {
    in_order_.push_back(flight);
  }
  last_due_ = std::max(last_due_, flight.due);
  if (queue_.empty()) {
    busy_ = false;
  } else {
    start_next(departs_);
  }
}

nanoseconds Link::due_of_current() const {
  auto due = departs_ + settings_.delay;
  if (settings_.jitter > nanoseconds(0)) {
    using Wide = unsigned __int128;
    auto const span = static_cast<std::uint64_t>(settings_.jitter.count()) + 1;
    due += nanoseconds(
        static_cast<std::int64_t>((Wide{jitter_random_.bits(current_.index)} * span) >> 64));
  }
  return settings_.reorder ? due : std::max(due, last_due_);
}

}  // namespace reprise
