#include "inject/document/source_set.h"

#include <algorithm>

#include "base/text/white_space.h"

namespace reprise::inject {

std::vector<std::string_view> source_set_urls(std::string_view value) {
  std::vector<std::string_view> urls;
  while (true) {
    while (!value.empty() && (is_white_space(value.front()) || value.front() == ',')) {
      value.remove_prefix(1);
    }
    if (value.empty()) return urls;
    auto const* const end = std::ranges::find_if(value, is_white_space);
    auto url = value.substr(0, static_cast<std::size_t>(end - value.begin()));
    value.remove_prefix(url.size());
    bool const done = url.ends_with(',');
    while (url.ends_with(',')) url.remove_suffix(1);
    urls.push_back(url);
    // Its size or density, up to a comma outside parentheses.
    int depth = 0;
    for (; !done && !value.empty(); value.remove_prefix(1)) {
      if (value.front() == ',' && depth == 0) break;
      if (value.front() == '(') ++depth;
      if (value.front() == ')' && depth > 0) --depth;
    }
  }
}

}  // namespace reprise::inject
