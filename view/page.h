#pragma once

#include <string>
#include <string_view>

namespace reprise {

/// The parts of the page of `reprise view`, made of the sources in view/page/ when this program
/// was built.
extern const std::string_view kViewMarkup;
extern const std::string_view kViewStyle;
extern const std::string_view kViewScript;

/// A whole HTML document that shows `model`, which is ViewModel's text. Its policy lets run and
/// apply what is in it, and fetch nothing. Pure.
std::string view_page(std::string_view model);

}  // namespace reprise
