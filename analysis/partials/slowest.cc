#include "analysis/partials/slowest.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "analysis/partials/load_bin.h"

namespace reprise {

bool LoadBins::add(const PartialLine& line) {
  auto const bar = line.key.rfind('|');
  if (bar == std::string_view::npos) return false;
  auto const text = line.key.substr(bar + 1);
  std::uint32_t bin = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), bin);
  if (error != std::errc() || end != text.data() + text.size() || bin >= kLoadBins) return false;
  if (sums_ == 0) sums_ = line.sums.size();
  if (line.sums.size() != sums_) return false;
  if (bin >= bins_.size()) bins_.resize(bin + 1);
  auto sums = bins_[bin];
  sums.resize(sums_);
  for (std::size_t i = 0; i < sums_; ++i) {
    if (__builtin_add_overflow(sums[i], line.sums[i], &sums[i])) return false;
  }
  bins_[bin] = std::move(sums);
  return true;
}

std::vector<double> LoadBins::slowest(double percent) const {
  double views = 0;
  for (auto const& bin : bins_) views += bin.empty() ? 0. : static_cast<double>(bin[0]);
  auto left = views * percent / 100;
  std::vector<double> sums(sums_);
  for (auto bin = bins_.rbegin(); bin != bins_.rend() && left > 0; ++bin) {
    if (bin->empty() || (*bin)[0] == 0) continue;
    auto const in_bin = static_cast<double>((*bin)[0]);
    auto const part = std::min(1., left / in_bin);
    for (std::size_t i = 0; i < sums_; ++i) sums[i] += part * static_cast<double>((*bin)[i]);
    left -= part * in_bin;
  }
  return sums;
}

}  // namespace reprise
