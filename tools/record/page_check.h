#pragma once

// What speaks against a recorded page as part of a corpus. Pure; much of a load comes
// from the page and is hostile.

#include <string>
#include <vector>

#include "pageload/results/page_load.h"

namespace reprise {

struct PageProblem {
  /// "not-loaded", "error-page", "bot-wall", "consent-wall"; "misses" is told by who replays.
  std::string kind;
  std::string text;  ///< a sentence for people, without its full stop
};

/// The request for the document that the page ended on; null when there was none.
const PageRequest* document_of(const PageLoad& load);

/// All that is wrong with `load`, which needs its DOM. Walls are told by marks that common makers
/// of them leave in a document: a mark is no proof that something was in the way, and a wall of
/// another maker goes unnoticed.
std::vector<PageProblem> check_page(const PageLoad& load);

}  // namespace reprise
