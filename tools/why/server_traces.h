#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cstddef>
#include <cstdint>

#include "archive/reader.h"

namespace reprise {

/// Their JSON together; what does not fit is skipped.
inline constexpr std::size_t kServerTraceBytesMax = std::size_t{16} << 20;

/// What servers say that they did in a session.
struct ServerTraces {
  /// `url` and `trace` (analysis/trench/TRENCH.md) of each response that has a trace.
  boost::json::array list = {};
  // Of the others, how many are skipped, by why. With any, the list does not say what all requests
  // took.
  std::size_t too_large = 0;   ///< beyond the limit
  std::size_t unreadable = 0;  ///< malformed or damaged
  std::size_t missing = 0;     ///< the response names a URL that was not fetched

  /// The three counts by their names.
  boost::json::object skipped() const;
};
ServerTraces server_traces(const ArchiveReader& archive, std::uint32_t session,
                           std::size_t bytes_max = kServerTraceBytesMax);

}  // namespace reprise
