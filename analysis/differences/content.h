#pragma once

// In what two bodies differ, for people, and how a document is put together from both. Pure.

#include <string>
#include <string_view>
#include <vector>

#include "analysis/differences/differences.h"

namespace reprise {

/// A change that has a cause of its own.
struct ContentPiece {
  std::string what;                ///< "line 12: added `<script src=/new.js>`"
  std::string added;               ///< text of B, for what it mentions; at most kPieceTextMax
  std::string removed;             ///< text of A
  std::vector<std::size_t> edits;  ///< in ContentComparison::edits; of a document
  bool of_one_element = false;     ///< the attributes of one start tag
  std::vector<std::string> digests = {};  ///< of its inline scripts and styles (digests_of())
  bool fetches = false;                   ///< code, or elements that fetch something
  bool has_script = false;                ///< an inline one
  bool has_style = false;                 ///< the same
};
inline constexpr std::size_t kPieceTextMax = 256 << 10;

struct ContentComparison {
  std::vector<ContentPiece> pieces;  ///< one for bodies that are no documents
  std::vector<DocumentEdit> edits;   ///< of a document; without overlap, in order
};

/// Two different texts of code: a script, a style sheet, JSON, SVG.
ContentComparison compare_code(std::string_view a, std::string_view b);

/// Two different documents. Each run of tokens that changed is an edit of its own, larger where
/// start and end tags belong together. Elements that fetch something, scripts and style sheets are
/// pieces; all else is one piece. In place of B's nonce stands that of A. No edits if they cannot
/// be compared by tokens: then there is one piece.
ContentComparison compare_documents(std::string_view a, std::string_view b);

/// `a` with some of its edits.
std::string with_edits(std::string_view a, const std::vector<DocumentEdit>& edits,
                       const std::vector<bool>& taken);

/// With `value` in place of every `old_value`, if both are as long as nonces are.
std::string with_nonce(std::string_view text, std::string_view old_value, std::string_view value);

}  // namespace reprise
