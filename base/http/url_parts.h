#pragma once

#include <string_view>

namespace reprise {

/// The parts of a URL as text: views of it, empty where it has none. Of a text without a scheme and
/// an authority, such as a target ("/path?query"), only path and query. Nothing is checked or
/// decoded; the fragment is dropped.
struct UrlParts {
  std::string_view scheme;
  std::string_view host;  ///< without user, port and brackets
  std::string_view path;
  std::string_view query;  ///< after the question mark
};
UrlParts url_parts(std::string_view url);

std::string_view without_fragment(std::string_view url);
/// Without the fragment, too.
std::string_view without_query(std::string_view url);

}  // namespace reprise
