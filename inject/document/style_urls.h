#pragma once

#include <string>
#include <string_view>

namespace reprise::inject {

/// A style sheet (UTF-8) whose relative URLs are absolute: those in url(), @import and image-set().
/// `base` is the style sheet's own URL. Not changed: absolute URLs, fragments, namespaces, what is
/// in comments. After CSS Syntax Level 3, section 4.3.
std::string with_absolute_urls(std::string_view style, std::string_view base);

}  // namespace reprise::inject
