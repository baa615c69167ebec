#pragma once

// Decodes bodies of an archive, and encodes them again.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "archive/reader.h"
#include "base/coding/coding.h"

namespace reprise {

/// The largest body held in memory, coded or not.
inline constexpr std::uint64_t kPlainBodyBytesMax = 256 << 20;

/// A decoded body.
struct PlainBody {
  coding::Buffer bytes;
  std::vector<coding::Coding> codings;  ///< the removed codings, in the order of application
};

/// Decodes a body as Content-Encoding among `headers` says. Errors: inject/error.h's
/// (unknown_coding, not_that_coding, truncated, too_large, bomb).
Result<PlainBody> decode_body(HeaderList headers, std::span<const std::byte> coded);
/// The same for a body in an archive. Errors: also corrupt and too_large.
Result<PlainBody> read_plain(const ArchiveReader& from, HeaderList headers, const StoredBody& body);

/// Encodes again, with about the effort of `before` (empty: the usual effort of servers).
coding::Buffer encode_body(std::span<const coding::Coding> codings,
                           std::span<const std::byte> plain, std::span<const std::byte> before);

}  // namespace reprise
