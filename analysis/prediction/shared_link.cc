#include "analysis/prediction/shared_link.h"

#include <algorithm>
#include <map>

namespace reprise {
namespace {

/// What rounding can leave of a transfer that has ended.
constexpr double kRestBytes = 1e-6;

}  // namespace

void SharedLink::add(std::size_t transfer, double bytes, std::size_t connection,
                     TransferPriority priority) {
  active_.push_back({.name = transfer,
                     .connection = connection,
                     .priority = priority,
                     .left_bytes = bytes_per_us_ > 0 ? bytes : 0});
  choose();
}

void SharedLink::choose() {
  std::map<std::size_t, const Transfer*> first;  // by connection
  for (Transfer const& each : active_) {
    if (each.left_bytes <= 0) continue;
    auto const [found, is_new] = first.emplace(each.connection, &each);
    if (!is_new && each.priority < found->second->priority) found->second = &each;
  }
  going_on_ = 0;
  for (Transfer& each : active_) {
    each.goes_on = each.connection == kOwnConnection || each.left_bytes <= 0;
    if (!each.goes_on) {
      Transfer const& goes_first = *first.at(each.connection);
      each.goes_on = &each == &goes_first ||
                     (each.priority.incremental && each.priority == goes_first.priority);
    }
    going_on_ += each.goes_on;
  }
}

double SharedLink::least_left() const {
  double least = kNever;
  for (Transfer const& each : active_) {
    if (each.goes_on) least = std::min(least, each.left_bytes);
  }
  return least;
}

double SharedLink::next_end() const {
  if (active_.empty()) return kNever;
  auto const least = least_left();
  return least <= 0 ? now_us_ : now_us_ + least / speed();
}

std::vector<std::size_t> SharedLink::advance(double at_us) {
  std::vector<std::size_t> ended;
  bool const ends = at_us >= next_end();
  if (!active_.empty()) {
    auto const given = ends ? least_left() : (at_us - now_us_) * speed();
    for (Transfer& each : active_) {
      if (each.goes_on) each.left_bytes -= given;
    }
  }
  now_us_ = at_us;
  if (ends) {
    std::erase_if(active_, [&](const Transfer& transfer) {
      if (!transfer.goes_on || transfer.left_bytes > kRestBytes) return false;
      ended.push_back(transfer.name);
      return true;
    });
    choose();
  }
  return ended;
}

}  // namespace reprise
