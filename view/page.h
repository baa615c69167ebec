#pragma once

#include <string>
#include <string_view>

namespace reprise {

/// The parts of the page of `reprise view`, generated from the sources in view/page/.
extern const std::string_view kViewMarkup;
extern const std::string_view kViewStyle;
extern const std::string_view kViewScript;

/// A whole HTML document that shows `model`, the text of a ViewModel. Its policy permits only its
/// own scripts and styles, and no requests. Pure.
std::string view_page(std::string_view model);

}  // namespace reprise
