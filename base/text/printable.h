#pragma once

// Makes untrusted text safe for terminals and for JSON.

#include <string>
#include <string_view>

namespace reprise {

/// For a terminal: UTF-8 stays as it is; control characters (escape sequences begin with one),
/// characters that turn the direction of writing, and bytes that are not UTF-8 become \xNN.
std::string printable(std::string_view text);

/// For JSON, which is UTF-8: bytes that are not become U+FFFD.
std::string as_utf8(std::string_view text);

/// `text` with spaces before or after it up to `width` bytes.
std::string align_left(std::string text, std::size_t width);
std::string align_right(std::string text, std::size_t width);

}  // namespace reprise
