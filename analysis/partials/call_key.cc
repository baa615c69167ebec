#include "analysis/partials/call_key.h"

namespace reprise {

std::string_view site_of(std::string_view url) {
  auto const colon = url.find("://");
  return colon == std::string_view::npos ? url : url.substr(0, url.find('/', colon + 3));
}

std::string_view suffix_of(std::string_view url) {
  auto const path = url.substr(0, std::min(url.find('?'), url.find('#')));
  auto begin = path.size();
  while (begin > 0 && path[begin - 1] != '.' && path[begin - 1] != '/') --begin;
  return begin > 0 && path[begin - 1] == '.' ? path.substr(begin) : std::string_view();
}

}  // namespace reprise
