#pragma once

// Names that become files of a campaign's folders: of pages, nodes and owners.

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace reprise {

inline constexpr std::size_t kFileNameBytesMax = 200;  ///< with room for a suffix
inline constexpr const char* kFileNameRule =
    "must be a name of at most 200 bytes without '/' that does not begin with a dot";

/// Whether a name stays in its folder, and can be printed.
inline bool is_file_name(std::string_view name) {
  return !name.empty() && name.size() <= kFileNameBytesMax && name[0] != '.' &&
         std::ranges::none_of(name, [](unsigned char c) { return c < 0x20 || c == '/'; });
}

}  // namespace reprise
