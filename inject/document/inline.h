#pragma once

// Resources as parts of a document. Pure.

#include <expected>
#include <string>
#include <string_view>

#include "inject/document/changes.h"

namespace reprise::inject {

/// The text of an inline element.
struct InlineText {
  std::string text;         ///< in the document's encoding
  std::string hash_source;  ///< "'sha256-...'" as a policy has it
};

/// The resource of `change` as the text of a script element. `charset` is the element's attribute.
/// Errors: a sentence why it cannot be one.
std::expected<InlineText, std::string> inline_script(const DocumentChange& change,
                                                     std::string_view charset,
                                                     const TextEncoding& document);

/// The same for a style element: its URLs are made absolute.
std::expected<InlineText, std::string> inline_style(const DocumentChange& change,
                                                    std::string_view charset,
                                                    const TextEncoding& document);

/// The resource as a data: URL of an image.
std::expected<std::string, std::string> inline_image(const DocumentChange& change);

}  // namespace reprise::inject
