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

/// Visits the user:password of each `https://user:password@host/` in a text, as "credentials".
/// Returns the text with the visitor's values.
std::string visit_credentials_of_urls(std::string_view text, const VisitSecret& visit);

/// Visits each value of a named parameter, whose name may be percent-encoded, and, with
/// `url_credentials`, those of visit_credentials_of_urls(), in a URL or a text with URLs. Returns
/// the text with the visitor's values.
std::string visit_urls(std::string_view text, const RedactOptions& options,
                       const VisitSecret& visit);
/// Visits each password alone in these; the visitor's values are not used.
void visit_passwords_in_urls(std::string_view text, const RedactOptions& options,
                             const VisitSecret& visit);
/// The same in one field; of Basic credentials the decoded user:password, too.
void visit_passwords(const HeaderView& field, const RedactOptions& options,
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
