#pragma once

// Problems of a recorded page as part of a corpus. Pure; much of a load comes from the page and is
// hostile.

#include <string>
#include <vector>

#include "pageload/results/page_load.h"

namespace reprise {

struct PageProblem {
  /// "not-loaded", "error-page", "bot-wall", "consent-wall"; the replayer reports "misses".
  std::string kind;
  std::string text;  ///< a sentence for users, without a full stop
};

/// The request for the page's final document; null if there was none.
const PageRequest* document_of(const PageLoad& load);

/// All problems of `load`, which needs its DOM. Walls are recognised by marks that their common
/// makers leave in a document: a mark does not prove that something blocked the page, and walls of
/// other makers are not found.
std::vector<PageProblem> check_page(const PageLoad& load);

}  // namespace reprise
