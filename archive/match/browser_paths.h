#pragma once

// The paths that browsers and their tools request by themselves, on any host. MATCHING.md has the
// list for users. Pure.

#include <algorithm>
#include <array>
#include <string_view>

namespace reprise {

struct BrowserPath {
  std::string_view path;
  std::string_view what;  ///< "favicon"
};

inline constexpr auto kBrowserPaths = std::to_array<BrowserPath>({
    {"/favicon.ico", "favicon"},
    {"/apple-touch-icon.png", "favicon"},
    {"/apple-touch-icon-precomposed.png", "favicon"},
    {"/.well-known/appspecific/com.chrome.devtools.json", "developer tools"},
    {"/.well-known/change-password", "password manager"},
    {"/.well-known/assetlinks.json", "password manager"},
    {"/.well-known/related-website-set.json", "related website sets"},
    {"/.well-known/privacy-sandbox-attestations.json", "privacy sandbox"},
});

/// `path`: without a query. Such a request comes by chance, whatever the page is.
inline bool is_browser_path(std::string_view path) {
  return std::ranges::find(kBrowserPaths, path, &BrowserPath::path) != kBrowserPaths.end();
}

}  // namespace reprise
