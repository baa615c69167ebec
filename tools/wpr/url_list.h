#pragma once

// The URLs that `httparchive` adds to an archive. Pure.

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace reprise::wpr {

/// One per line of `text`, without white space at its ends; empty lines are skipped.
std::vector<std::string> urls_in(std::string_view text);

/// URLs that are equal if browsers request the same for them: whatever the case of scheme and host,
/// with or without default port, "/" for an empty path, and fragment.
class UrlSet {
 public:
  void insert(const std::string& url);
  bool contains(const std::string& url) const;

 private:
  std::set<std::string> urls_;  ///< as browsers write them
};

}  // namespace reprise::wpr
