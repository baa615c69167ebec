#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "archive/match/index.h"
#include "archive/reader.h"

namespace reprise {

/// Builds the match index of an archive's records, whether or not the file has one: the same
/// records give the same bytes. Reads every exchange, and the request bodies that are split into
/// parameters. Damaged exchanges are skipped. Parameters whose name matches one of the globs
/// are left out; the index of a file has all. Uses about 250 bytes of memory per exchange
/// (MATCHING.md).
std::vector<std::byte> build_match_index(const ArchiveReader& reader,
                                         std::span<const std::string> ignored_params = {});

}  // namespace reprise
