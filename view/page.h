#pragma once

#include <string>
#include <string_view>

namespace reprise {

/// A whole HTML document that shows `model`, the text of a ViewModel. Its policy permits only its
/// own scripts and styles, and no requests. Pure.
std::string view_page(std::string_view model);

}  // namespace reprise
