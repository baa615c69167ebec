#pragma once

// Character references in attribute values, after WHATWG HTML sections 13.2.5.72 to .80 and 13.5.
// Pure.

#include <string>
#include <string_view>

namespace reprise::inject {

/// The value of an attribute that is written as `raw` in a document: references decoded, line ends
/// as LF, NUL as U+FFFD. `raw` is in UTF-8, or has ASCII characters only; other bytes are kept.
std::string attribute_value(std::string_view raw);

/// `text` for a value in double quotes.
std::string in_attribute(std::string_view text);

/// Every named reference, as "name=text " one after the other; after the names that need no
/// semicolon stands "!=".
extern const std::string_view kNamedReferences;

}  // namespace reprise::inject
