#pragma once

// How long calls of dependencies take under chosen conditions: tier, location, size, concurrency.
// As a file: docs/predict-service.md. Pure.

#include <cstdint>
#include <expected>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace reprise {

inline constexpr std::string_view kLatencyProfileSchema = "reprise-latency-profile/1";

/// Under which a dependency is called. Fields that are empty or 0 are unknown.
struct LatencyConditions {
  std::string tier;
  std::string location;
  double size = 0;
  double concurrency = 0;  ///< calls at a time, of one replica

  bool operator==(const LatencyConditions&) const = default;
};

/// A distribution as its quantiles, evenly spaced.
class LatencyQuantiles {
 public:
  static constexpr std::size_t kPoints = 501;

  /// `times_us` are not empty, and finite.
  static LatencyQuantiles of(std::vector<double> times_us);
  /// Between two distributions, at the same quantiles; `part` 0 is the first.
  static LatencyQuantiles between(const LatencyQuantiles& a, const LatencyQuantiles& b,
                                  double part);
  /// For `share` from 0 to 1, in us.
  double at(double share) const;

 private:
  std::vector<double> points_;
};

/// Where a time is among sorted ones, from above 0 to below 1: the middle of those that equal it.
double share_below(std::span<const double> sorted, double value);

struct MeasuredLatency {
  std::string operation = "*";  ///< a name, or a glob for operations without a name here
  LatencyConditions conditions;
  std::vector<double> times_us;  ///< not empty
};

struct DependencyProfile {
  std::string name;            ///< of the dependency, as in the traces
  LatencyConditions observed;  ///< under which the traces were recorded
  std::vector<MeasuredLatency> latencies;

  /// Of calls of an operation. Tier and location must be among the measured ones; between sizes,
  /// and between concurrencies, it is interpolated by their logarithm. Errors: a sentence with what
  /// was measured.
  std::expected<LatencyQuantiles, std::string> at(std::string_view operation,
                                                  const LatencyConditions& conditions) const;
  /// The concurrencies that were measured of an operation in that tier and location.
  std::vector<double> concurrencies(std::string_view operation,
                                    const LatencyConditions& conditions) const;

 private:
  std::vector<const MeasuredLatency*> matching(std::string_view operation,
                                               const LatencyConditions& conditions) const;
};

struct LatencyProfile {
  static constexpr std::size_t kBytesMax = 64 << 20;
  static constexpr std::size_t kDependenciesMax = 1'000;
  static constexpr std::size_t kLatenciesMax = 10'000;  ///< of a dependency

  std::vector<DependencyProfile> dependencies;

  /// Null if no dependency has that name.
  const DependencyProfile* find(std::string_view name) const;
};

/// Reads an untrusted file. Errors: a sentence with the place of what is wrong.
std::expected<LatencyProfile, std::string> read_latency_profile(std::string_view text);
/// As a file, one line.
std::string latency_profile_json(const LatencyProfile& profile);

}  // namespace reprise
