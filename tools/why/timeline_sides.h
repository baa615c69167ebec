#pragma once

// Two loads of results, or two of their requests, as `reprise why` is given them: a.json#3 is the
// third load of a file, a.json#3:17 the 17th request of that load.

#include <cstddef>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/timelines/timelines.h"
#include "pageload/results/load_result.h"

namespace reprise {

struct TimelinePlace {
  std::string file;
  std::size_t load = 1;                ///< from 1, as in `reprise view`
  std::optional<std::size_t> request;  ///< from 1, in the order of sending

  /// Nothing if it is no such text, or there is a file of that name.
  static std::optional<TimelinePlace> parse(const std::string& text);
};

/// A load that was read.
struct TimelineSide {
  std::string name;  ///< as given
  std::unique_ptr<LoadResult> result;
  LoadTimeline timeline;               ///< borrows the result
  std::optional<std::size_t> request;  ///< in PageLoad::requests

  /// Errors: a sentence.
  static std::expected<TimelineSide, std::string> read(const std::string& name,
                                                       const TimelinePlace& place);
};

}  // namespace reprise
