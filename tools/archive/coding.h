#pragma once

// Bodies of an archive without their content codings, and coded again.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "archive/reader.h"
#include "base/coding/coding.h"

namespace reprise {

/// The largest body that is held in memory, coded or not.
inline constexpr std::uint64_t kPlainBodyBytesMax = 256 << 20;

/// A body as it is meant.
struct PlainBody {
  coding::Buffer bytes;
  std::vector<coding::Coding> codings;  ///< that were undone, in the order of application
};

/// Undoes what Content-Encoding among `headers` says. Errors: inject/error.h's (unknown_coding,
/// not_that_coding, truncated, too_large, bomb).
Result<PlainBody> decode_body(HeaderList headers, std::span<const std::byte> coded);
/// Likewise, of a body in an archive. Errors: corrupt and too_large, too.
Result<PlainBody> read_plain(const ArchiveReader& from, HeaderList headers, const StoredBody& body);

/// Codes again, about as hard as `before` was coded (empty: as servers commonly do).
coding::Buffer encode_body(std::span<const coding::Coding> codings,
                           std::span<const std::byte> plain, std::span<const std::byte> before);

}  // namespace reprise
