#pragma once

// Walks over JSON text (RFC 8259) to name its leaves. Pure; input is hostile.

#include <functional>
#include <string>
#include <string_view>

namespace reprise {

/// Calls `leaf` with the path and the text of every value that holds no others ("/items[]/id" and
/// "17"), while it returns true. The text is as it stands, of a string without its quotes. Returns
/// whether `text` is one object or array, or several one after the other, nested at most
/// `depth_max` deep.
bool walk_json(std::string_view text, std::size_t depth_max,
               const std::function<bool(const std::string& path, std::string_view value)>& leaf);

}  // namespace reprise
