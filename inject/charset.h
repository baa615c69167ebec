#pragma once

// How the characters of a document are laid out in bytes, as far as finding markup needs to know:
// nearly every encoding of the web keeps '<', '>', quotes and ASCII letters where ASCII has them.
// Pure. Sources: WHATWG Encoding (labels), WHATWG HTML section 13.2.3 (BOM, header, prescan).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace reprise::inject {

enum class TextForm : std::uint8_t {
  kAscii,  ///< a byte below 0x30, '<', '=' and '>' mean themselves wherever they stand
  kUtf16le,
  kUtf16be,
  kIso2022Jp,    ///< escape sequences give the bytes another meaning
  kReplacement,  ///< decodes to a single U+FFFD: such a document has no markup
};

/// The form of the encoding that `label` names, in any case and with white space around it. Nothing
/// when it names none: browsers then look further.
std::optional<TextForm> form_of_label(std::string_view label);

/// The value of the `charset` parameter of a Content-Type, unquoted; empty when there is none.
/// Borrows, except that a value with backslashes counts as none.
std::string_view charset_parameter(std::string_view content_type);

struct ByteOrderMark {
  TextForm form;
  std::size_t size_bytes;
};

/// The byte order mark at the start of a document, from its first three bytes.
std::optional<ByteOrderMark> byte_order_mark(std::span<const std::byte> document);

/// A document's own statement of its encoding.
struct Declaration {
  std::string label;  ///< what browsers decode with: UTF-16 in a meta element means UTF-8
  TextForm form = TextForm::kAscii;
  std::size_t end_bytes = 0;  ///< where the statement ends
};

inline constexpr std::size_t kPrescanBytes = 1024;

/// The prescan of HTML: `document` is the first kPrescanBytes of it, or all. `steps` grows by the
/// bytes looked at.
std::optional<Declaration> prescan(std::span<const std::byte> document, std::uint64_t& steps);

/// The encoding that an XML declaration at the start states.
std::optional<Declaration> xml_declaration(std::span<const std::byte> document);

}  // namespace reprise::inject
