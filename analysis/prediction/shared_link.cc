#include "analysis/prediction/shared_link.h"

#include <algorithm>

namespace reprise {

void SharedLink::add(std::size_t transfer, double bytes) {
  active_.push_back({.name = transfer, .until = given_ + (bytes_per_us_ > 0 ? bytes : 0)});
}

double SharedLink::next_end() const {
  if (active_.empty()) return kNever;
  auto const first = std::ranges::min_element(active_, {}, &Transfer::until);
  if (first->until <= given_) return now_us_;
  return now_us_ + (first->until - given_) / speed();
}

std::vector<std::size_t> SharedLink::advance(double at_us) {
  std::vector<std::size_t> ended;
  bool const ends = at_us >= next_end();
  if (!active_.empty()) {
    auto const first = std::ranges::min(active_, {}, &Transfer::until).until;
    if (ends) {
      given_ = std::max(given_, first);
    } else {
      given_ += (at_us - now_us_) * speed();
    }
  }
  now_us_ = at_us;
  if (ends) {
    std::erase_if(active_, [&](const Transfer& transfer) {
      if (transfer.until > given_) return false;
      ended.push_back(transfer.name);
      return true;
    });
  }
  return ended;
}

}  // namespace reprise
