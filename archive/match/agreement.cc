#include "archive/match/agreement.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace reprise {
namespace {

using Fields = std::map<std::string, std::vector<std::string_view>>;

Fields by_name(HeaderList headers) {
  Fields fields;
  for (auto const& field : headers) {
    if (!equals_ignoring_case(field.name, "Host")) {
      fields[lower_case(field.name)].push_back(field.value);
    }
  }
  return fields;
}

}  // namespace

double agreement(HeaderList recorded, HeaderList asked) {
  auto const theirs = by_name(recorded);
  auto const ours = by_name(asked);
  auto const equal = std::ranges::count_if(theirs, [&ours](auto const& each) {
    auto const found = ours.find(each.first);
    return found != ours.end() && found->second == each.second;
  });
  auto const names = std::max<std::size_t>(1, theirs.size() + ours.size());
  return 2.0 * static_cast<double>(equal + 1) / static_cast<double>(names);
}

}  // namespace reprise
