#include "tools/view/input_names.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "base/text/printable.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;

/// The last `count` parts of `path`, or all if it has fewer.
fs::path last_parts(const fs::path& path, std::ptrdiff_t count) {
  auto part = path.begin();
  std::advance(part, std::max<std::ptrdiff_t>(0, std::distance(path.begin(), path.end()) - count));
  fs::path parts;
  for (; part != path.end(); ++part) parts /= *part;
  return parts;
}

/// How many of their last parts tell `paths`, which differ, apart.
std::ptrdiff_t parts_needed(const std::set<fs::path>& paths) {
  for (std::ptrdiff_t count = 1;; ++count) {
    std::set<fs::path> shortened;
    bool has_more = false;
    for (const fs::path& path : paths) {
      shortened.insert(last_parts(path, count));
      has_more |= std::distance(path.begin(), path.end()) > count;
    }
    if (shortened.size() == paths.size() || !has_more) return count;
  }
}

}  // namespace

std::vector<std::string> input_names(const std::vector<fs::path>& paths) {
  std::map<fs::path, std::set<fs::path>> same_file_name;
  for (const fs::path& path : paths) same_file_name[path.filename()].insert(path);
  std::map<fs::path, std::size_t> times;
  std::vector<std::string> names;
  for (const fs::path& path : paths) {
    auto const count = parts_needed(same_file_name[path.filename()]);
    auto name = as_utf8(last_parts(path, count).native());
    auto const time = ++times[path];
    if (time > 1) name += " (" + std::to_string(time) + ")";
    names.push_back(std::move(name));
  }
  return names;
}

}  // namespace reprise
