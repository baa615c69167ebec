#include "base/http/url_parts.h"

#include <algorithm>

namespace reprise {

UrlParts url_parts(std::string_view url) {
  UrlParts parts;
  url = without_fragment(url);
  auto const colon = url.find("://");
  // In a target such as /go?to=https://b.test/ it is further on.
  if (colon != std::string_view::npos && url.find_first_of("/?") == colon + 1) {
    parts.scheme = url.substr(0, colon);
    url.remove_prefix(colon + 3);
    auto authority = url.substr(0, url.find_first_of("/?"));
    url.remove_prefix(authority.size());
    authority.remove_prefix(std::min(authority.rfind('@') + 1, authority.size()));
    parts.host = authority.starts_with('[') ? authority.substr(1, authority.find(']') - 1)
                                            : authority.substr(0, authority.find(':'));
  }
  auto const query = std::min(url.find('?'), url.size());
  parts.path = url.substr(0, query);
  parts.query = url.substr(std::min(query + 1, url.size()));
  return parts;
}

std::string_view without_fragment(std::string_view url) {
  return url.substr(0, url.find('#'));
}

std::string_view without_query(std::string_view url) {
  return url.substr(0, url.find_first_of("?#"));
}

}  // namespace reprise
