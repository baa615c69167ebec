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

/// Each value of a named parameter in a URL, or a text with URLs in it. In a form body (`is_form`)
/// parameters may stand at the start, too. Returns the text with the visitor's values.
std::string visit_parameters(std::string_view text, bool is_form, const RedactOptions& options,
                             const VisitSecret& visit);

/// Each secret in one field; returns its value with the visitor's.
std::string visit_field(const HeaderView& field, const RedactOptions& options,
                        const VisitSecret& visit);

}  // namespace reprise
