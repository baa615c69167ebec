#pragma once

#include <string>
#include <string_view>

#include "archive/import/collect/http_text.h"

namespace reprise::importing {

/// The charset in the Content-Type, in lower case; empty if it has no charset.
std::string charset_of(const Fields& fields);
/// Whether ASCII text has the same bytes in `charset`, a result of charset_of(): not in UTF-16,
/// UTF-32 and UTF-7. An unknown one is assumed to.
bool extends_ascii(std::string_view charset);
/// Whether text can be shorter in UTF-8 than in `charset`, a result of charset_of().
bool can_shrink_as_utf8(std::string_view charset);

/// Sets the charset in the Content-Type of a text (also of JSON, JavaScript and XML) to UTF-8,
/// which wins over what a document declares itself. False if nothing changed: there is no such
/// field, or it already means UTF-8.
bool set_charset_utf8(Fields& fields);

}  // namespace reprise::importing
