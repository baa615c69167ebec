#include "archive/match/counters.h"

#include <algorithm>
#include <cstdlib>
#include <unordered_map>

#include "archive/match/key_hasher.h"

namespace reprise {
namespace {

/// The tolerance for a counter of milliseconds, and the smallest time that proves anything.
constexpr std::int64_t kElapsedMin = 50;
constexpr std::int64_t kElapsedOffMin = 20;
constexpr std::int64_t kElapsedOffPart = 10;

std::uint64_t site_name(std::uint64_t site, std::uint32_t name) {
  return mixed(site ^ mixed(name));
}

/// The limit of names per site; the first ones are used.
constexpr std::size_t kSiteNamesMax = 65'536;

/// One name's values, by exchange.
class Run {
 public:
  void add(const CountedExchange& exchange, std::uint32_t value) {
    auto const time = std::chrono::duration_cast<std::chrono::milliseconds>(exchange.time).count();
    if (value == Count::kNone) rises_ = elapses_ = false;
    bool const goes_on = length_ > 0 && exchange.session == session_;
    if (goes_on) {
      if (value <= value_) rises_ = false;
      auto const grown = std::int64_t{value} - value_;
      auto const off = std::abs(grown - (time - time_));
      if (grown < kElapsedMin || off > std::max(kElapsedOffMin, grown / kElapsedOffPart)) {
        elapses_ = false;
      }
      ++pairs_;
      if (exchange.family != family_) ++switches_;
    }
    length_ = goes_on ? length_ + 1 : 1;
    longest_ = std::max(longest_, length_);
    session_ = exchange.session;
    family_ = exchange.family;
    value_ = value;
    time_ = time;
  }

  bool counts_through_paths() const {
    return rises_ && longest_ >= SiteCounters::kSiteCountsMin && switches_ >= 2;
  }
  bool elapses() const { return elapses_ && pairs_ > 0; }
  bool is_short() const { return rises_ && longest_ <= 2; }

 private:
  std::uint32_t session_ = 0;
  std::uint32_t value_ = 0;
  std::uint64_t family_ = 0;
  std::int64_t time_ = 0;
  std::uint32_t length_ = 0;  // within this session
  std::uint32_t longest_ = 0;
  std::uint32_t pairs_ = 0;
  std::uint32_t switches_ = 0;
  bool rises_ = true;
  bool elapses_ = true;
};

}  // namespace

std::uint32_t count_of(std::string_view text) {
  constexpr std::size_t kDigitsMax = 8;
  std::uint32_t value = 0;
  if (text.empty() || text.size() > kDigitsMax) return Count::kNone;
  for (char const c : text) {
    if (c < '0' || c > '9') return Count::kNone;
    value = value * 10 + static_cast<std::uint32_t>(c - '0');
  }
  return value;
}

SiteCounters::SiteCounters(std::span<const CountedExchange> exchanges) {
  std::unordered_map<std::uint64_t, Run> runs;
  for (const CountedExchange& exchange : exchanges) {
    for (auto const [name, value] : exchange.counts) {
      auto const key = site_name(exchange.site, name);
      auto const known = runs.size() < kSiteNamesMax ? runs.try_emplace(key).first : runs.find(key);
      if (known != runs.end()) known->second.add(exchange, value);
    }
  }
  for (auto const& [key, run] : runs) {
    if (run.counts_through_paths()) names_.insert(key);
  }
}

bool SiteCounters::has(std::uint64_t site, std::uint32_t name) const {
  return names_.contains(site_name(site, name));
}

std::vector<std::uint32_t> counters_in(std::span<const CountedExchange> family,
                                       const SiteCounters& site) {
  std::unordered_map<std::uint32_t, Run> runs;
  for (const CountedExchange& exchange : family) {
    for (auto const [name, value] : exchange.counts) runs[name].add(exchange, value);
  }
  std::vector<std::uint32_t> names;
  for (auto const& [name, run] : runs) {
    if (run.is_short() || run.elapses() || site.has(family.front().site, name)) {
      names.push_back(name);
    }
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace reprise
