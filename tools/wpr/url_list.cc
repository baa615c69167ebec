#include "tools/wpr/url_list.h"

#include <algorithm>

#include "base/http/url.h"
#include "base/text/white_space.h"

namespace reprise::wpr {
namespace {

/// `url` itself if it is not valid.
std::string as_browsers_write(const std::string& url) {
  return absolute_url(url).value_or(url);
}

}  // namespace

std::vector<std::string> urls_in(std::string_view text) {
  std::vector<std::string> urls;
  while (!text.empty()) {
    auto const end = std::min(text.find('\n'), text.size());
    if (auto const url = trim(text.substr(0, end)); !url.empty()) urls.emplace_back(url);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return urls;
}

void UrlSet::insert(const std::string& url) {
  urls_.insert(as_browsers_write(url));
}

bool UrlSet::contains(const std::string& url) const {
  return urls_.contains(as_browsers_write(url));
}

}  // namespace reprise::wpr
