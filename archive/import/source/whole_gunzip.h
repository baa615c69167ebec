#pragma once

#include <optional>
#include <string>

#include "archive/import/source/byte_source.h"

namespace reprise::importing {

/// The most that inflated_whole() holds: as compressed, and inflated.
inline constexpr std::size_t kWholeCodedBytesMax = 256 << 20;
inline constexpr std::size_t kWholePlainBytesMax = 512 << 20;

/// The text of an input of one gzip member, inflated at once, which takes a third of the time of a
/// stream and is read as often as needed. Nothing if it is another format or larger, has several
/// members or is damaged: then it is read as a stream, which says what is wrong.
std::optional<std::string> inflated_whole(Input& input);

}  // namespace reprise::importing
