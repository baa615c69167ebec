#include "analysis/unpaired_requests.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "archive/match/steady_request.h"

namespace reprise {
namespace {

std::vector<std::string_view> left_of(const std::set<std::string_view>& ours,
                                      const std::set<std::string_view>& theirs) {
  std::vector<std::string_view> only;
  std::ranges::set_difference(ours, theirs, std::back_inserter(only));
  return only;
}

}  // namespace

UnpairedRequests unpaired_requests(const std::set<std::string_view>& a,
                                   const std::set<std::string_view>& b) {
  UnpairedRequests out{.a = {}, .b = left_of(b, a), .volatile_names = {}};
  std::multimap<std::string, std::string_view> left_of_b;
  for (auto const request : out.b) left_of_b.emplace(steady_request(request).text, request);
  for (auto const request : left_of(a, b)) {
    auto const ours = steady_request(request);
    auto const partner = left_of_b.find(ours.text);
    if (ours.volatile_values.empty() || partner == left_of_b.end()) {
      out.a.push_back(request);
      continue;
    }
    note_differing(ours, steady_request(partner->second), out.volatile_names);
    std::erase(out.b, partner->second);
    left_of_b.erase(partner);
  }
  return out;
}

}  // namespace reprise
