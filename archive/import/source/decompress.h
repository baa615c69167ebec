#pragma once

// Sources that undo how a recording as a whole was compressed. What comes out is limited to
// kExpansionMax times what went in, beyond a first kExpansionFreeBytes: more is a bomb, not a page.

#include <memory>

#include "archive/import/source/byte_source.h"

namespace reprise::importing {

inline constexpr std::uint64_t kExpansionFreeBytes = std::uint64_t{1} << 30;
inline constexpr std::uint64_t kExpansionMax = 200;

enum class Compression : std::uint8_t { kNone, kGzip, kZstd };

/// By the first four bytes.
Compression compression_of(std::string_view start);

/// gzip (RFC 1952), in one member or many. Zeros behind the last one are padding, and remarked on.
std::unique_ptr<ByteSource> make_gunzip(std::unique_ptr<ByteSource> from);
/// zstd (RFC 8878); a first frame may hold the dictionary of all others, as .warc.zst has it.
std::unique_ptr<ByteSource> make_unzstd(std::unique_ptr<ByteSource> from);
/// Bare deflate (RFC 1951), as in a zip. What follows the end is not looked at.
std::unique_ptr<ByteSource> make_inflate(std::unique_ptr<ByteSource> from);

/// `from`, decompressed as its `start` asks for.
std::unique_ptr<ByteSource> decompressed(std::unique_ptr<ByteSource> from, std::string_view start);

}  // namespace reprise::importing
