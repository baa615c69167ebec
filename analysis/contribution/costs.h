#pragma once

// What each host, entity, script, and header or setting costs the views of a page: time, processor,
// bytes, requests. The costs of one kind of cause add up; those of two kinds are the same, divided
// otherwise. But a request counts in full under each of its headers and settings. Pure.

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/calls/call.h"
#include "analysis/contribution/entities.h"

namespace reprise {

enum class CauseKind : std::uint8_t {
  kHost,    ///< of requests, and of the scripts that ran
  kEntity,  ///< that the host belongs to; the host, if it is not known
  kScript,  ///< with function and line, where the trace has them
  /// A header or setting that several requests have, such as "cache-control: no-store".
  kSetting,
};
inline constexpr std::size_t kCauseKindCount = 4;
/// In JSON: "host", "entity", "script", "setting".
std::string_view to_string(CauseKind kind);

/// Of a request, on the wire, head and body; 0 if it is not known.
double wire_bytes(const Call& request);

/// Means of a view.
struct Cost {
  std::string name;
  double us = 0;            ///< its even share
  double processor_us = 0;  ///< of the main thread, as far as it was traced
  double bytes = 0;         ///< on the wire
  double requests = 0;
};

/// By kind of cause; the largest time first, then the most processor. At most kCostsMax each.
using Costs = std::array<std::vector<Cost>, kCauseKindCount>;
inline constexpr std::size_t kCostsMax = 200;

/// Sums up views. Borrows the entities.
class CostSums {
 public:
  explicit CostSums(const Entities& entities) : entities_(entities) {}

  /// `own_us`: the even share of each call, without the calls inside it.
  void add(const CallTree& tree, const std::vector<std::int64_t>& own_us);
  Costs means(std::size_t views) const;

 private:
  Cost& of(CauseKind kind, std::string_view name);
  std::string entity_of(std::string_view host) const;

  const Entities& entities_;
  std::array<std::map<std::string, Cost, std::less<>>, kCauseKindCount> sums_;
};

}  // namespace reprise
