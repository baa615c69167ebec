#pragma once

// What a response is, and its head after its document has changed. Pure.

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "inject/rewrite.h"

namespace reprise::inject {

enum class Kind : std::uint8_t { kHtml, kXml, kScript, kSniffed, kOther };

/// What a browser will take the response for, by its head: kSniffed where it looks at the content.
Kind kind_of(std::uint16_t status, HeaderList headers, Destination destination);

/// How many bytes sniffed_markup() wants to see, or all.
inline constexpr std::size_t kSniffBytes = 512;

/// WHATWG MIME Sniffing, section 7.1, as far as markup goes.
std::optional<Markup> sniffed_markup(std::span<const std::byte> document);

/// The label in the Content-Type, empty when there is none.
std::string_view header_charset(HeaderList headers);

/// What of a head must change with its body.
struct HeadChange {
  const ScriptAllowance& allowance;
  std::string_view charset_to_state;          ///< empty: none
  std::optional<std::uint64_t> length_bytes;  ///< nothing: Content-Length is left out
  /// For digests; null: they are left out.
  const std::vector<std::byte>* body = nullptr;
};
Headers changed_head(HeaderList headers, const HeadChange& change);

}  // namespace reprise::inject
