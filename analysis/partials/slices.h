#pragma once

// Merged partial results by day, page and tags: "the slowest 10 % by network". Pure.

#include <cstddef>
#include <cstdint>
#include <expected>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/partials/partial_table.h"
#include "analysis/partials/slowest.h"

namespace reprise {

/// What views with the same values of the asked-for parts add up to.
struct PartialSlice {
  std::vector<std::pair<std::string, std::string>> values;  ///< names and values; of all views none
  /// The sums of a line: views, windows, kinds; times in us.
  std::vector<double> sums;
};

/// Adds up the lines of partial results in any order, merged or not. Not thread-safe.
class PartialSlices {
 public:
  /// Lines of further slices count in the slice of all views alone.
  static constexpr std::size_t kSlicesMax = 10'000;

  /// `tags` are the names of the tags in the keys, in their order; `by` are some of them, `day` or
  /// `page`. The error is the first name of `by` that is something else.
  static std::expected<PartialSlices, std::string> of(const std::vector<std::string>& tags,
                                                      const std::vector<std::string>& by);

  /// Returns false, and adds nothing, if the key has another number of tags or no bin, or if there
  /// is another number of sums than in the lines before.
  bool add(const PartialLine& line);

  /// The slowest views, `percent` (above 0, at most 100), of all; then of each slice, those with
  /// the most views first. Of each slice as LoadBins says.
  std::vector<PartialSlice> slowest(double percent) const;

  std::uint64_t lines_beyond() const { return lines_beyond_; }

 private:
  PartialSlices() = default;

  std::vector<std::string> by_;
  std::vector<std::size_t> places_;  ///< of each of by_, in a key
  std::size_t parts_ = 0;            ///< of a key
  LoadBins all_;
  std::map<std::vector<std::string>, LoadBins> slices_;  ///< by values as they are in keys
  std::uint64_t lines_beyond_ = 0;
};

/// The parts of a key, as they are there: day, page, tags, bin.
std::vector<std::string_view> parts_of_key(std::string_view key);

}  // namespace reprise
