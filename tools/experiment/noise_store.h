#pragma once

// What this machine's loads of a page vary by, kept from one gate to the next.

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analysis/needed_loads.h"
#include "tools/experiment/experiment_side.h"

namespace reprise {

struct KnownNoise {
  std::vector<MetricSpread> spreads;  ///< of the metrics that were compared
  double load_seconds = 0;            ///< a load takes, with its browser
  std::chrono::sys_seconds measured;
};

/// A folder of small files, 0600, which name pages by their digest alone. What cannot be read is
/// unknown, what cannot be written is not kept: a gate works without it.
class NoiseStore {
 public:
  /// Older noise is unknown: machines change.
  static constexpr std::chrono::days kLife{30};

  explicit NoiseStore(std::filesystem::path folder) : folder_(std::move(folder)) {}
  static std::filesystem::path default_folder();

  std::optional<KnownNoise> find(const std::string& key, std::chrono::sys_seconds now) const;
  void keep(const std::string& key, const KnownNoise& noise) const;

  /// Names machine, archive with its what-ifs, page, conditions, and the metrics that are compared.
  static std::string key_of(const LoadResult& result, const LoadCell& cell,
                            const std::vector<std::size_t>& metrics);
  std::filesystem::path path_of(const std::string& key) const { return folder_ / (key + ".json"); }

 private:
  std::filesystem::path folder_;
};

}  // namespace reprise
