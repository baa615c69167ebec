#pragma once

// The places of secrets in a message.

#include <functional>
#include <string>
#include <string_view>

#include "archive/edit/redact.h"

namespace reprise {

/// Gets a secret as written, its name, and whether to search for it elsewhere; returns the
/// replacement.
using VisitSecret =
    std::function<std::string(std::string_view value, const std::string& name, Searched searched)>;

/// Visits each value of a named parameter in a URL, or in a text with URLs; the name may be
/// percent-encoded there. Returns the text with the visitor's values.
std::string visit_parameters(std::string_view text, const RedactOptions& options,
                             const VisitSecret& visit);

/// Whether a body of this Content-Type is a form (application/x-www-form-urlencoded,
/// multipart/form-data).
bool is_form(HeaderList headers);
/// Visits each value of a named parameter in such a body; returns the body with the visitor's
/// values.
std::string visit_form(HeaderList headers, std::string_view body, const RedactOptions& options,
                       const VisitSecret& visit);

/// Visits each secret in one field; returns its value with the visitor's values.
std::string visit_field(const HeaderView& field, const RedactOptions& options,
                        const VisitSecret& visit);

}  // namespace reprise
