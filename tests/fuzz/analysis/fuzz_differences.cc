// Two bodies, apart at the first NUL, compared as documents and as code: a document with none of
// its edits is the first one, and every edit belongs to one piece.

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "analysis/differences/content.h"
#include "base/invariant.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace reprise;
  std::string_view const input(reinterpret_cast<const char*>(data), size);
  auto const at = std::min(input.find('\0'), input.size());
  auto const a = input.substr(0, at);
  auto const b = input.substr(std::min(at + 1, input.size()));
  auto const code = compare_code(a, b);
  invariant(code.pieces.size() == 1 && code.edits.empty(), "code has one piece");
  auto const documents = compare_documents(a, b);
  std::size_t before = 0;
  for (const DocumentEdit& edit : documents.edits) {
    invariant(before <= edit.begin && edit.begin <= edit.end && edit.end <= a.size(),
              "edits in order");
    before = edit.end;
  }
  std::vector<bool> taken(documents.edits.size());
  invariant(with_edits(a, documents.edits, taken) == a, "no edits");
  for (const ContentPiece& piece : documents.pieces) {
    for (auto const edit : piece.edits) {
      invariant(!taken[edit], "an edit in two pieces");
      taken[edit] = true;
    }
  }
  invariant(std::ranges::find(taken, false) == taken.end(), "an edit in no piece");
  with_edits(a, documents.edits, taken);
  return 0;
}
