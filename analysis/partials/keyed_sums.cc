#include "analysis/partials/keyed_sums.h"

#include <algorithm>
#include <cstring>
#include <functional>

namespace reprise {

KeyedSums::Line KeyedSums::line_at(std::int64_t* row) const {
  const char* const key = reinterpret_cast<const char*>(row + sums_of_key_ + 1);
  return {.key = {key, static_cast<std::size_t>(row[sums_of_key_])}, .sums = {row, sums_of_key_}};
}

std::size_t KeyedSums::expect(std::string_view key) const {
  auto const hash = std::hash<std::string_view>()(key);
  __builtin_prefetch(&places_[hash & (places_.size() - 1)]);
  return hash;
}

/// Where the key is, or is to be.
KeyedSums::Place& KeyedSums::place_of(std::string_view key, std::size_t hash) {
  for (auto at = hash;; ++at) {
    Place& place = places_[at & (places_.size() - 1)];
    if (place.row == nullptr || (place.hash == hash && line_at(place.row).key == key)) return place;
  }
}

std::span<std::int64_t> KeyedSums::find(std::string_view key, std::size_t hash) {
  auto* place = &place_of(key, hash);
  if (place->row == nullptr) {
    if (size_ == keys_max_) return {};
    if (++size_ > places_.size() / 2) {
      grow();
      place = &place_of(key, hash);
    }
    auto const bytes = (sums_of_key_ + 1) * sizeof(std::int64_t) + key.size();
    place->hash = hash;
    place->row = static_cast<std::int64_t*>(rows_.allocate(bytes, alignof(std::int64_t)));
    std::fill_n(place->row, sums_of_key_, 0);
    place->row[sums_of_key_] = static_cast<std::int64_t>(key.size());
    std::memcpy(place->row + sums_of_key_ + 1, key.data(), key.size());
  }
  return line_at(place->row).sums;
}

void KeyedSums::grow() {
  std::vector<Place> before(2 * places_.size());
  before.swap(places_);
  for (Place const& place : before) {
    if (place.row != nullptr) place_of(line_at(place.row).key, place.hash) = place;
  }
}

std::vector<KeyedSums::Line> KeyedSums::sorted() const {
  std::vector<Line> lines;
  lines.reserve(size_);
  for (Place const& place : places_) {
    if (place.row != nullptr) lines.push_back(line_at(place.row));
  }
  std::ranges::sort(lines, {}, &Line::key);
  return lines;
}

void KeyedSums::clear() {
  places_.assign(kPlacesMin, {});
  rows_.release();
  size_ = 0;
}

}  // namespace reprise
