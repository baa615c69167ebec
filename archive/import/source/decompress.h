#pragma once

// Sources that decompress whole recordings. Output is limited to kExpansionMax times the input,
// after a first kExpansionFreeBytes: more is a decompression bomb.

#include <memory>

#include "archive/import/source/byte_source.h"

namespace reprise::importing {

inline constexpr std::uint64_t kExpansionFreeBytes = std::uint64_t{1} << 30;
inline constexpr std::uint64_t kExpansionMax = 200;

enum class Compression : std::uint8_t { kNone, kGzip, kZstd };

/// Recognised by the first four bytes.
Compression compression_of(std::string_view start);

/// gzip (RFC 1952), with one or many members. Zeros after the last one are padding, and cause a
/// remark.
std::unique_ptr<ByteSource> make_gunzip(std::unique_ptr<ByteSource> from);
/// zstd (RFC 8878); the first frame can be the dictionary of all others, as in .warc.zst.
std::unique_ptr<ByteSource> make_unzstd(std::unique_ptr<ByteSource> from);
/// Raw deflate (RFC 1951), as in a zip. Bytes after its end are ignored.
std::unique_ptr<ByteSource> make_inflate(std::unique_ptr<ByteSource> from);

/// `from`, decompressed as its `start` indicates.
std::unique_ptr<ByteSource> decompressed(std::unique_ptr<ByteSource> from, std::string_view start);

}  // namespace reprise::importing
