#pragma once

// Where records of a WARC begin, and where the block of a damaged record ends.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "archive/import/source/byte_source.h"

namespace reprise::importing {

/// Every line that names a version begins with it.
inline constexpr std::string_view kWarcStart = "WARC/";
/// The longest line that names a version, with its end.
inline constexpr std::size_t kVersionLineBytesMax = 32;

/// "WARC/1.1", without the line's end.
bool is_known_version(std::string_view line);
/// Whether a line with a known version begins here.
bool begins_version_line(std::string_view text);
/// Where such a line begins in `text`, also after other text; npos if nowhere.
std::size_t find_version_line(std::string_view text);

/// The size of the block that begins at this byte of `from`, whose head says `size_bytes`. It is
/// smaller only if neither the end of the file nor a record follows the block as stated, and an
/// empty line and the head of another record are inside it. A WARC in the block that begins with
/// it, after the HTTP head if `is_http`, is content. Of a compressed file only blocks that fit into
/// the buffer are examined. Moves nowhere.
std::uint64_t warc_block_bytes(ByteReader& from, std::uint64_t size_bytes, bool is_http);

}  // namespace reprise::importing
