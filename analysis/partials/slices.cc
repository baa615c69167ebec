#include "analysis/partials/slices.h"

#include <algorithm>
#include <tuple>

#include "base/text/percent.h"

namespace reprise {

std::vector<std::string_view> parts_of_key(std::string_view key) {
  std::vector<std::string_view> parts;
  while (true) {
    auto const end = key.find('|');
    parts.push_back(key.substr(0, end));
    if (end == std::string_view::npos) return parts;
    key.remove_prefix(end + 1);
  }
}

std::expected<PartialSlices, std::string> PartialSlices::of(const std::vector<std::string>& tags,
                                                            const std::vector<std::string>& by) {
  constexpr std::size_t kPage = 1;
  constexpr std::size_t kFirstTag = 2;
  PartialSlices slices;
  slices.by_ = by;
  slices.parts_ = kFirstTag + tags.size() + 1;
  for (std::string const& name : by) {
    auto const tag = std::ranges::find(tags, name);
    if (tag != tags.end()) {
      slices.places_.push_back(kFirstTag + static_cast<std::size_t>(tag - tags.begin()));
    } else if (name == "day" || name == "page") {
      slices.places_.push_back(name == "page" ? kPage : 0);
    } else {
      return std::unexpected(name);
    }
  }
  return slices;
}

bool PartialSlices::add(const PartialLine& line) {
  auto const parts = parts_of_key(line.key);
  if (parts.size() != parts_ || !all_.add(line)) return false;
  if (by_.empty()) return true;
  std::vector<std::string> values;
  for (auto const place : places_) values.emplace_back(parts[place]);
  auto slice = slices_.find(values);
  if (slice == slices_.end()) {
    if (slices_.size() >= kSlicesMax) {
      ++lines_beyond_;
      return true;
    }
    slice = slices_.emplace(std::move(values), LoadBins()).first;
  }
  return slice->second.add(line);
}

std::vector<PartialSlice> PartialSlices::slowest(double percent) const {
  std::vector<PartialSlice> slices;
  for (auto const& [values, bins] : slices_) {
    PartialSlice slice{.sums = bins.slowest(percent)};
    for (std::size_t i = 0; i < by_.size(); ++i) {
      slice.values.emplace_back(by_[i], percent_decoded(values[i]));
    }
    slices.push_back(std::move(slice));
  }
  std::ranges::sort(slices, {}, [](const PartialSlice& slice) {
    return std::tuple(-slice.sums[0], slice.values);
  });
  slices.insert(slices.begin(), PartialSlice{.sums = all_.slowest(percent)});
  return slices;
}

}  // namespace reprise
