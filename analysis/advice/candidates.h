#pragma once

// Changes of a page that may make it faster, from its loads: the catalogue of ADVICE.md. They are
// guesses until they are measured. Pure.

#include <cstddef>
#include <string>
#include <vector>

#include "analysis/contribution/entities.h"
#include "pageload/results/load_result.h"

namespace reprise {

struct ChangeCandidate {
  std::string kind;     ///< its row in ADVICE.md: "late resource"
  std::string what_if;  ///< as `--what-if` takes it
  std::string advice;   ///< what to do and why, a sentence
  /// The even share of the requests that it is about, in a load; of several loads the mean.
  double share_ms = 0;
  /// Of one group, only the best stands among the other changes: its images would delay each
  /// other, or it is a third party, whose worth is no advice. Empty: none.
  std::string group;
};

struct CandidateOptions {
  std::size_t most = 8;
  bool images = true;                  ///< images can be encoded again
  const Entities* entities = nullptr;  ///< who hosts belong to; null: Entities::built_in()
};

/// Of the loads that count, which are of one page under one configuration; the first shows what is
/// requested. Of each kind the one with the largest share comes first, then the second ones; of
/// equal shares by `what_if`.
std::vector<ChangeCandidate> candidates_of(const LoadResult& base, const CandidateOptions& options);

/// The filter that selects the requests of a URL, by host, path and query.
std::string filter_of(std::string_view url);

}  // namespace reprise
