#pragma once

// Where in a message secrets stand.

#include <functional>
#include <string>
#include <string_view>

#include "archive/edit/redact.h"

namespace reprise {

/// Gets a secret as it stands there, what to call it, and whether it is worth looking for
/// elsewhere; returns what shall stand there.
using VisitSecret =
    std::function<std::string(std::string_view value, const std::string& name, bool searched)>;

/// Each value of a named parameter in a URL, or a text with URLs in it. Returns the text with the
/// visitor's values.
std::string visit_parameters(std::string_view text, const RedactOptions& options,
                             const VisitSecret& visit);

/// Whether a body of this Content-Type is a form (application/x-www-form-urlencoded,
/// multipart/form-data).
bool is_form(HeaderList headers);
/// Each value of a named parameter in such a body; returns the body with the visitor's.
std::string visit_form(HeaderList headers, std::string_view body, const RedactOptions& options,
                       const VisitSecret& visit);

/// Each secret in one field; returns its value with the visitor's.
std::string visit_field(const HeaderView& field, const RedactOptions& options,
                        const VisitSecret& visit);

}  // namespace reprise
