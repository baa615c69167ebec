#pragma once

#include <boost/json/array.hpp>
#include <cstddef>
#include <cstdint>

#include "archive/reader.h"

namespace reprise {

/// Their JSON together; later ones are not kept.
inline constexpr std::size_t kServerTraceBytesMax = std::size_t{16} << 20;

/// What servers say that they did in a session: `url` and `trace` (analysis/trench/TRENCH.md) of
/// each response that has a trace, as far as it can be read.
boost::json::array server_traces(const ArchiveReader& archive, std::uint32_t session);

}  // namespace reprise
