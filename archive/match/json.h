#pragma once

// Walks JSON text (RFC 8259) and returns its leaves. Pure; input is hostile.

#include <functional>
#include <string>
#include <string_view>

namespace reprise {

/// Calls `leaf` with the path and the text of every value that contains no others ("/items[]/id"
/// and "17"), while it returns true. The text is as written; of a string, without its quotes.
/// Returns whether `text` is one object or array, or several in sequence, nested at most
/// `depth_max` deep.
bool walk_json(std::string_view text, std::size_t depth_max,
               const std::function<bool(const std::string& path, std::string_view value)>& leaf);

}  // namespace reprise
