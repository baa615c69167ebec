#pragma once

#include <string_view>
#include <vector>

namespace reprise::inject {

/// The URLs of a srcset or imagesrcset, as written, in order (WHATWG HTML section 4.8.4.2.1 and
/// "parse a srcset attribute"; what follows a URL is not checked). Borrows.
std::vector<std::string_view> source_set_urls(std::string_view value);

}  // namespace reprise::inject
