#pragma once

// A page is one HTML document that needs no network: a frame (view/page/page.html), a style, a
// script, and a model that the script shows. Generated from view/page/, view/explain/ and
// view/why/.

#include <string>
#include <string_view>

namespace reprise {

struct PageParts {
  std::string_view title, style, script;
};

extern const std::string_view kPageMarkup;
extern const PageParts kViewParts;
extern const PageParts kExplainParts;
extern const PageParts kWhyParts;

/// The document. Its policy permits only its own script and style, and no requests. `model` is JSON
/// after script_safe(). Pure.
std::string page_of(const PageParts& parts, std::string_view model);

}  // namespace reprise
