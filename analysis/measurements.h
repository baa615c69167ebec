#pragma once

// The compared parts of a result of page loads. The result is untrusted. Pure except for
// read_measurements().

#include <array>
#include <cstddef>
#include <expected>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/disturbance.h"
#include "pageload/results/load_result.h"
#include "pageload/results/metric.h"

namespace reprise {

/// The report of the replay of a load.
struct ReplayRow {
  std::vector<std::string> misses;    ///< "GET https://...", sorted, without repeats
  std::vector<std::string> warnings;  ///< reasons to doubt its link's figures; sentences
  std::string calibration;            ///< the properties of its link: shaper, self-check on or off
  double queue_drops = 0;             ///< packets for which its link's queue had no room
};

struct LoadRow {
  std::string url;
  LoadConfiguration conditions;
  bool warm_up = false;  ///< does not count
  bool loaded = false;
  std::string failure;  ///< "timed-out: ..." if not loaded
  int status = 0;       ///< document_status()
  std::array<std::optional<double>, kMetricCount> metrics;
  /// "GET https://...", sorted, without repeats and without the browser's own
  /// (archive/match/browser_paths.h).
  std::vector<std::string> requests;
  std::optional<std::size_t> replay;  ///< the index in Measurements::replays
  std::string skipped;  ///< the measuring program's reason to skip it; empty: it counts
  std::string node;     ///< of a campaign, which made it; empty: no campaign
  std::optional<std::uint64_t> link_seed;  ///< of the link's losses
  std::string link_traces;  ///< digests of the link's trace files; empty: none, or unknown
  std::vector<Disturbance> disturbances;
  bool counts = false;  ///< in spite of them: the measuring program has judged them
};

struct Measurements {
  std::string archive;                ///< path; empty if live
  std::string archive_sha256;         ///< empty if live or unknown
  std::vector<std::string> what_ifs;  ///< that changed its replays, as given
  /// How the pages were loaded, by option: {"--viewport", "1280x800"}. An option that is not here
  /// is unknown.
  std::map<std::string, std::string> settings;
  std::string machine;  ///< processor and cores; empty if unknown
  std::vector<LoadResult::Browser> browsers;
  std::vector<ReplayRow> replays;
  std::vector<LoadRow> loads;

  /// The replay that served `load`; an empty one if it was live.
  const ReplayRow& replay_of(const LoadRow& load) const;
};

/// As in Measurements.
std::map<std::string, std::string> settings_of(const LoadSettings& settings);

/// Errors: a sentence with the field that is required and missing, "loads[3].url is missing".
std::expected<Measurements, std::string> measurements_of(const LoadResult& result);
/// Reads a file. Errors: also those of read_result_file().
std::expected<Measurements, std::string> read_measurements(const std::filesystem::path& path);

}  // namespace reprise
