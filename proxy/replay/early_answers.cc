#include "proxy/replay/early_answers.h"

#include <algorithm>

namespace reprise {

bool was_answered_early(const Exchange& exchange) {
  if (exchange.outcome != Outcome::kComplete) return false;
  auto const& times = exchange.timings;
  return exchange.request.body_partial ||
         (exchange.request.body.size_bytes > 0 && times.first_byte != kNoTime &&
          times.request_sent != kNoTime && times.first_byte < times.request_sent);
}

std::optional<std::uint32_t> EarlyAnswers::next(const MatchKey& key) {
  auto name = std::string(key.method) + " " + url_of(key);
  std::scoped_lock const lock(mutex_);
  auto known = calls_.find(name);
  if (known == calls_.end()) {
    auto ordinals = find(key);
    if (ordinals.empty()) return std::nullopt;
    known = calls_.emplace(std::move(name), Calls{.ordinals = std::move(ordinals)}).first;
  }
  auto& calls = known->second;
  auto const at = std::min(calls.taken, calls.ordinals.size() - 1);
  ++calls.taken;
  return calls.ordinals[at];
}

void EarlyAnswers::reset() {
  std::scoped_lock const lock(mutex_);
  for (auto& [name, calls] : calls_) calls.taken = 0;
}

std::vector<std::uint32_t> EarlyAnswers::find(const MatchKey& key) const {
  std::vector<std::uint32_t> found;
  std::size_t visits = 0;
  archive_.visit_path(path_hash(key.host, key.target), [&](std::uint32_t ordinal) {
    if (archive_.entries()[ordinal].session == session_) {
      auto const exchange = archive_.exchange(ordinal);
      if (exchange && was_answered_early(*exchange) && exchange->request.target == key.target &&
          same_place(key_of(exchange->request), key)) {
        found.push_back(ordinal);
      }
    }
    return ++visits < kVisitsMax;
  });
  std::ranges::sort(found, {},
                    [this](std::uint32_t at) { return archive_.entries()[at].sequence; });
  return found;
}

}  // namespace reprise
