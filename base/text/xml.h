#pragma once

#include <string>
#include <string_view>

namespace reprise {

/// Text or an attribute's value for XML 1.0: its own characters as entities, and control
/// characters, which it cannot contain, as spaces.
std::string xml_escaped(std::string_view text);

}  // namespace reprise
