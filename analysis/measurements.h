#pragma once

// What of a result of page loads is compared. The result may be anybody's. Pure but for
// read_measurements().

#include <array>
#include <cstddef>
#include <expected>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analysis/disturbance.h"
#include "pageload/results/load_result.h"
#include "pageload/results/metric.h"

namespace reprise {

/// What the replay of a load says.
struct ReplayRow {
  std::vector<std::string> misses;    ///< "GET https://...", sorted, each once
  std::vector<std::string> warnings;  ///< what makes its link's figures doubtful; sentences
  std::string calibration;            ///< how its link was made: shaper, self-check on or off
};

struct LoadRow {
  std::string url;
  LoadConfiguration conditions;
  bool warm_up = false;  ///< not to be counted
  bool loaded = false;
  std::string failure;  ///< "timed-out: ..." when not loaded
  std::array<std::optional<double>, kMetricCount> metrics;
  std::vector<std::string> requests;  ///< "GET https://...", sorted, each once
  std::optional<std::size_t> replay;  ///< which of Measurements::replays served it
  std::string left_out;               ///< by whom measured it; why. Empty: it counts
  std::vector<Disturbance> disturbances;
};

struct Measurements {
  std::string archive;         ///< path; empty when live
  std::string archive_sha256;  ///< empty when live or unknown
  std::string machine;         ///< processor and cores; empty when unknown
  std::vector<LoadResult::Browser> browsers;
  std::vector<ReplayRow> replays;
  std::vector<LoadRow> loads;

  /// Of the replay that served `load`; an empty one when it was live.
  const ReplayRow& replay_of(const LoadRow& load) const;
};

/// Errors: a sentence that names the field without which there is nothing to compare, "loads[3].url
/// is missing".
std::expected<Measurements, std::string> measurements_of(const LoadResult& result);
/// Of a file. Errors: also those of read_result_file().
std::expected<Measurements, std::string> read_measurements(const std::filesystem::path& path);

}  // namespace reprise
