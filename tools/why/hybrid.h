#pragma once

// Archives between two: A with some of the differences of B.

#include <expected>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "analysis/differences/differences.h"
#include "archive/reader.h"

namespace reprise {

/// One of the two archives, with the session that is compared.
struct ComparedArchive {
  const ArchiveReader& reader;
  std::uint32_t session = 0;
};

/// Writes hybrids. All that only one archive has is in each of them: what is put in decides whether
/// a page asks for it. Hosts that A reached keep their connections and offers of HTTP/3; those that
/// B alone reached have those of B. Borrows everything.
class HybridMaker {
 public:
  HybridMaker(ComparedArchive a, ComparedArchive b, const Differences& differences)
      : a_(a), b_(b), differences_(differences) {}

  /// Writes the new file `to`. `groups`: which of Differences::groups are put in. The error is a
  /// sentence: a group that cannot be put in, a part of an archive that is damaged, a file that
  /// cannot be written.
  std::expected<void, std::string> write(const std::vector<bool>& groups,
                                         const std::filesystem::path& to) const;

 private:
  ComparedArchive a_;
  ComparedArchive b_;
  const Differences& differences_;
};

}  // namespace reprise
