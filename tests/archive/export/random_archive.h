#pragma once

#include <cstdint>

#include "archive/writer.h"

namespace reprise::exporting {

/// Writes a session of random exchanges, the same for the same seed: methods, versions, codings,
/// chunks and trailers, odd fields, failures, times that are known or not.
void write_random_session(ArchiveWriter& writer, std::uint64_t seed);

}  // namespace reprise::exporting
