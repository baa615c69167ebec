#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace reprise {

using Bytes = std::span<const std::byte>;

/// Views of the same bytes, as text and as bytes. Borrow.
inline std::string_view text_of(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
inline std::string_view text_of(std::span<const char> chars) {
  return {chars.data(), chars.size()};
}
inline Bytes bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

}  // namespace reprise
