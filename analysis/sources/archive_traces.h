#pragma once

// The traces that servers sent with the responses of an archive (analysis/trench/TRENCH.md).

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "analysis/trench/trench_trace.h"
#include "archive/reader.h"

namespace reprise {

/// What a response has of its trace. Trace and error are empty if it has none, or if it is missing.
struct FoundTrace {
  std::shared_ptr<const TrenchTrace> trace = {};  ///< shared by all responses that name one URL
  std::string error = {};                         ///< a sentence: why it cannot be read
  bool is_missing = false;  ///< there is a URL, and the archive has nothing of it
};

/// Finds them in the fields of a response, or by the URL there in another exchange of the session.
class ArchiveTraces {
 public:
  /// `archive` outlives this.
  explicit ArchiveTraces(const ArchiveReader& archive) : archive_(archive) {}

  FoundTrace of(const Exchange& exchange);
  /// Whether the recorder, not the page, asked for this exchange: an earlier of() has named it.
  bool was_fetched(const Exchange& exchange) const;

 private:
  using Key = std::pair<std::uint32_t, std::string>;  ///< session and URL

  FoundTrace at(const Key& key);

  const ArchiveReader& archive_;
  std::optional<std::map<Key, std::uint32_t>> ordinals_;  // of all exchanges, once one is needed
  std::set<Key> named_;
  std::optional<std::pair<Key, FoundTrace>> last_;  // many responses can name one URL
};

}  // namespace reprise
