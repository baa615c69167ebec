#pragma once

// How the characters of a document are encoded in bytes, as far as needed to find markup: in nearly
// every encoding of the web '<', '>', quotes and ASCII letters are the ASCII bytes. Pure. Sources:
// WHATWG Encoding (labels), WHATWG HTML section 13.2.3 (BOM, header, prescan).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace reprise::inject {

enum class TextForm : std::uint8_t {
  kAscii,  ///< a byte below 0x30, '<', '=' and '>' always mean themselves
  kUtf16le,
  kUtf16be,
  kIso2022Jp,    ///< escape sequences change the meaning of bytes
  kReplacement,  ///< decodes to a single U+FFFD: no markup
};

/// The form of the encoding with this label, in any case and with white space around it. Nothing if
/// the label is unknown: browsers then try the next source.
std::optional<TextForm> form_of_label(std::string_view label);

/// The value of the `charset` parameter of a Content-Type, unquoted; empty if it is missing, or has
/// backslashes. Borrows.
std::string_view charset_parameter(std::string_view content_type);

struct ByteOrderMark {
  TextForm form;
  std::size_t size_bytes;
};

/// The byte order mark in the first three bytes of a document.
std::optional<ByteOrderMark> byte_order_mark(std::span<const std::byte> document);

/// The encoding that a document declares.
struct Declaration {
  std::string label;  ///< what browsers decode with: UTF-16 in a meta element means UTF-8
  TextForm form = TextForm::kAscii;
  std::size_t end_bytes = 0;  ///< where the declaration ends
};

inline constexpr std::size_t kPrescanBytes = 1024;

/// The prescan of HTML: `document` is its first kPrescanBytes, or all. `steps` grows by the number
/// of bytes read.
std::optional<Declaration> prescan(std::span<const std::byte> document, std::uint64_t& steps);

/// The encoding in an XML declaration at the start.
std::optional<Declaration> xml_declaration(std::span<const std::byte> document);

}  // namespace reprise::inject
