#pragma once

// The encoding of a document's or resource's text, and the way from one to another. Pure.

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "inject/charset.h"

namespace reprise::inject {

/// An encoding by its label in lower case, as browsers choose it.
struct TextEncoding {
  TextForm form = TextForm::kAscii;
  std::string label = "windows-1252";

  bool is_utf8() const;
};

/// The encoding of an HTML document: by its byte order mark, the `charset` of its Content-Type
/// (which can be empty), its declaration in the first 1,024 bytes, or windows-1252 (WHATWG HTML
/// section 13.2.3.2).
TextEncoding encoding_of_document(std::span<const std::byte> document, std::string_view charset);

/// The encoding with this label; nothing if it is unknown.
std::optional<TextEncoding> encoding_of_label(std::string_view label);

/// `text` in UTF-8, without a byte order mark. What is invalid in UTF-8 becomes U+FFFD; nothing if
/// `text` is invalid in another encoding, or the encoding is one that iconv(3) does not have.
std::optional<std::string> in_utf8(std::string_view text, const TextEncoding& from);

/// The way back. Nothing if a character does not exist in `to`.
std::optional<std::string> from_utf8(std::string_view text, const TextEncoding& to);

bool is_ascii(std::string_view text);

}  // namespace reprise::inject
