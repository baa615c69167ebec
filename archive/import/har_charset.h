#pragma once

#include "archive/import/collect/http_text.h"

namespace reprise::importing {

/// Sets the charset in the Content-Type of a text (also of JSON, JavaScript and XML) to UTF-8,
/// which wins over what a document declares itself. False if nothing changed: there is no such
/// field, or it already means UTF-8.
bool set_charset_utf8(Fields& fields);

}  // namespace reprise::importing
