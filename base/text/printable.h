#pragma once

// Makes untrusted text safe for terminals and for JSON.

#include <string>
#include <string_view>

namespace reprise {

/// For a terminal: valid UTF-8 is unchanged; control characters (escape sequences begin with one),
/// characters that change the direction of writing, and bytes that are not UTF-8 become \xNN.
std::string printable(std::string_view text);

/// For JSON, which is UTF-8: invalid bytes become U+FFFD.
std::string as_utf8(std::string_view text);

/// `text` padded with spaces after or before it to `width` bytes.
std::string align_left(std::string text, std::size_t width);
std::string align_right(std::string text, std::size_t width);

}  // namespace reprise
