#include "tools/why/timeline_sides.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <utility>

#include "analysis/sources/load_calls.h"
#include "base/text/counted.h"
#include "base/text/printable.h"
#include "pageload/results/result_file.h"

namespace reprise {
namespace {

std::optional<std::size_t> number_of(std::string_view text) {
  std::size_t number = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number == 0) return std::nullopt;
  return number;
}

}  // namespace

std::optional<TimelinePlace> TimelinePlace::parse(const std::string& text) {
  auto const mark = text.rfind('#');
  std::error_code error;
  if (mark == std::string::npos || std::filesystem::exists(text, error)) return std::nullopt;
  auto const rest = std::string_view(text).substr(mark + 1);
  auto const colon = rest.find(':');
  auto const load = number_of(rest.substr(0, colon));
  if (!load) return std::nullopt;
  TimelinePlace place{.file = text.substr(0, mark), .load = *load, .request = {}};
  if (colon == std::string_view::npos) return place;
  place.request = number_of(rest.substr(colon + 1));
  if (!place.request) return std::nullopt;
  return place;
}

std::expected<TimelineSide, std::string> TimelineSide::read(const std::string& name,
                                                            const TimelinePlace& place) {
  auto read = read_result_file(place.file);
  if (!read) {
    return std::unexpected(printable(place.file) +
                           " is not a result of `reprise load -o`: " + read.error());
  }
  auto result = std::make_unique<LoadResult>(std::move(*read));
  if (place.load > result->loads.size()) {
    return std::unexpected(printable(place.file) + " has " + counted(result->loads.size(), "load") +
                           ", and no load " + std::to_string(place.load));
  }
  std::vector<CallLoss> losses;
  auto calls = calls_of(*result, losses);
  auto const found = std::ranges::find(calls, place.load - 1, &LoadCalls::load);
  auto const& load = result->loads[place.load - 1];
  if (found == calls.end()) {
    auto const* const why = load.warm_up            ? "is a warm-up"
                            : !load.skipped.empty() ? "was skipped when it was measured"
                                                    : "did not load";
    return std::unexpected("load " + std::to_string(place.load) + " of " + printable(place.file) +
                           " " + why);
  }
  auto const& requests = load.page.requests;
  if (place.request && *place.request > requests.size()) {
    return std::unexpected("load " + std::to_string(place.load) + " of " + printable(place.file) +
                           " has " + counted(requests.size(), "request") + ", and no request " +
                           std::to_string(*place.request));
  }
  std::optional<std::size_t> request;
  if (place.request) request = *place.request - 1;
  return TimelineSide{.name = name,
                      .result = std::move(result),
                      .timeline = LoadTimeline::of(load.page, std::move(found->tree)),
                      .request = request};
}

}  // namespace reprise
