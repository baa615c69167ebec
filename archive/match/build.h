#pragma once

#include <cstddef>
#include <vector>

#include "archive/match/index.h"
#include "archive/reader.h"

namespace reprise {

/// The match index of an archive's records, whether or not it holds one: the same records give the
/// same bytes. Reads every exchange, and the request bodies that are taken apart. An exchange that
/// is damaged is left out. Takes about 250 bytes of memory an exchange meanwhile (MATCHING.md).
std::vector<std::byte> build_match_index(const ArchiveReader& reader);

}  // namespace reprise
