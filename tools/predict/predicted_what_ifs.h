#pragma once

// What-ifs as the model of a page (analysis/prediction) takes them.

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/dependency/observed_page.h"
#include "analysis/prediction/page_change.h"
#include "archive/reader.h"
#include "proxy/whatif/effect.h"
#include "proxy/whatif/intervention.h"

namespace reprise {

struct PredictedChange {
  PageChange change;
  std::vector<std::string> remarks;  ///< sentences about what the model does not follow
};

/// What-ifs with what they came to. Borrows all of it.
struct MadeWhatIfs {
  const ArchiveReader& recorded;
  std::uint32_t session = 1;    ///< of `recorded`
  std::string_view page;        ///< the URL that is loaded
  const ArchiveReader& before;  ///< what the observed loads were served
  const ArchiveReader& after;   ///< what the changed ones are; can be `before`
  std::span<const whatif::Intervention> interventions;
  std::size_t first = 0;  ///< the earlier ones are those of `before`, too
  std::span<const whatif::Effect> effects;
  bool warm_cache = false;
  /// Whether the changed loads are all over HTTP/1.1, or all over another protocol; nothing: each
  /// host speaks what it spoke.
  std::optional<bool> http1;
};

/// Bytes change by as many as the responses of the two archives differ. The error is a sentence
/// that says what the model cannot express, and why.
std::expected<PredictedChange, std::string> predicted_what_ifs(const MadeWhatIfs& made,
                                                               const DependencyGraph& graph,
                                                               std::span<const ObservedPage> loads);

}  // namespace reprise
