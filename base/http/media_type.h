#pragma once

#include <string>
#include <string_view>

#include "base/http/headers.h"

namespace reprise {

/// The value of a Content-Type, or of another field with parameters, without them, as written.
std::string_view media_type_of(std::string_view content_type);

/// "text/html" for "Text/HTML; charset=utf-8"; empty if there is no Content-Type.
std::string media_type(HeaderList headers);

/// The kinds of media types that have a short name: html, script, style, image, font, json, xml,
/// media. False for other names.
bool is_kind_name(std::string_view name);
/// Whether `type`, a result of media_type(), is of the kind `name`.
bool is_of_kind(std::string_view type, std::string_view name);

/// Whether `type`, without parameters, is a JavaScript MIME type (WHATWG MIME Sniffing
/// section 4.6).
bool is_javascript(std::string_view type);

}  // namespace reprise
