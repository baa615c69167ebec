#pragma once

// The kind of a response, and its head after its document has changed. Pure.

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "inject/rewrite.h"

namespace reprise::inject {

enum class Kind : std::uint8_t { kHtml, kXml, kScript, kSniffed, kOther };

/// The kind that a browser derives from the head: kSniffed if it examines the content.
Kind kind_of(std::uint16_t status, HeaderList headers, Destination destination);

/// The number of bytes that sniffed_markup() needs, or all.
inline constexpr std::size_t kSniffBytes = 512;

/// WHATWG MIME Sniffing, section 7.1, for markup only.
std::optional<Markup> sniffed_markup(std::span<const std::byte> document);

/// The label in the Content-Type; empty if it has none.
std::string_view header_charset(HeaderList headers);

/// The changes of a head that a changed body needs.
struct HeadChange {
  const ScriptAllowance& allowance;
  std::string_view charset_to_state;          ///< empty: no change
  std::optional<std::uint64_t> length_bytes;  ///< nothing: Content-Length is removed
  /// For digests; null: they are removed.
  const std::vector<std::byte>* body = nullptr;
};
Headers changed_head(HeaderList headers, const HeadChange& change);

}  // namespace reprise::inject
