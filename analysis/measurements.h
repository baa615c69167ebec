#pragma once

// A file of page loads, as far as comparing needs it. The schema is pageload/results/RESULTS.md;
// the file may be anybody's. Pure but for read_measurements_file().

#include <array>
#include <boost/json/object.hpp>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/metric.h"

namespace reprise {

/// Under which conditions a page was loaded.
struct Conditions {
  std::string browser, protocol, link, cache;
  bool operator==(const Conditions&) const = default;
};

/// What the replay of a load says.
struct ReplayRow {
  std::vector<std::string> misses;    ///< "GET https://...", sorted, each once
  std::vector<std::string> warnings;  ///< what makes its link's figures doubtful; sentences
  std::string calibration;            ///< how its link was made: shaper, self-check on or off
};

struct LoadRow {
  std::string url;
  Conditions conditions;
  bool warm_up = false;  ///< not to be counted
  bool loaded = false;
  std::string failure;  ///< "timed-out: ..." when not loaded
  std::array<std::optional<double>, kMetricCount> metrics;
  std::vector<std::string> requests;  ///< "GET https://...", sorted, each once
  std::optional<std::size_t> replay;  ///< which of Measurements::replays served it
};

struct BrowserVersion {
  std::string name;
  std::string version;
};

struct Measurements {
  std::string archive;         ///< path; empty when live
  std::string archive_sha256;  ///< empty when live or unknown
  std::string machine;         ///< processor and cores; empty when unknown
  std::vector<BrowserVersion> browsers;
  std::vector<ReplayRow> replays;
  std::vector<LoadRow> loads;

  /// Of the replay that served `load`; an empty one when it was live.
  const ReplayRow& replay_of(const LoadRow& load) const;
};

/// A file may have this size, as many loads, and as many requests a load.
inline constexpr std::uintmax_t kMeasurementsBytesMax = 256U << 20;
inline constexpr std::size_t kMeasuredLoadsMax = 100'000;
inline constexpr std::size_t kMeasuredRequestsMax = 20'000;

/// Errors: a sentence that names the field, "loads[3].url is missing".
std::expected<Measurements, std::string> read_measurements(const boost::json::object& result);
std::expected<Measurements, std::string> parse_measurements(std::string_view text);
/// Errors: also the system's and those of size, without the path.
std::expected<Measurements, std::string> read_measurements_file(const std::filesystem::path& path);

}  // namespace reprise
