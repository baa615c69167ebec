#pragma once

#include <filesystem>

namespace reprise {

struct DigestOptions {
  std::filesystem::path set;     ///< of `campaign collect`, task advise
  std::filesystem::path owners;  ///< `reprise-owners/1`
  std::filesystem::path before;  ///< the set of the last time; empty: none
  std::filesystem::path output;
};

/// `reprise campaign advise`: OWNER.md and OWNER.json for each owner of a page. Prints errors;
/// returns the exit code.
int write_digests(const DigestOptions& options);

}  // namespace reprise
