#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/differences/builder.h"
#include "base/text/counted.h"

namespace reprise {
namespace {

std::string size_of(const RecordedExchange& of) {
  return of.method + ", " + (of.media_type.empty() ? "no type" : of.media_type) + ", " +
         counted(of.size_bytes, "byte");
}

/// How many of them would have to move to be in order: those outside the longest rising sequence.
std::size_t out_of_order(const std::vector<std::size_t>& places) {
  std::vector<std::size_t> lowest_ends;
  for (auto const place : places) {
    auto const at = std::ranges::lower_bound(lowest_ends, place);
    if (at == lowest_ends.end()) {
      lowest_ends.push_back(place);
    } else {
      *at = place;
    }
  }
  return places.size() - lowest_ends.size();
}

}  // namespace

void compare_requests(DifferenceBuilder& builder) {
  auto const& made = builder.made;
  for (auto const i : made.alignment.only_b) {
    auto const& of = made.b.exchanges[i];
    builder.add({.kind = DifferenceKind::kCame,
                 .where = of.url(),
                 .what = size_of(of),
                 .pair = {},
                 .host = of.host});
  }
  for (auto const i : made.alignment.only_a) {
    auto const& of = made.a.exchanges[i];
    builder.add({.kind = DifferenceKind::kWent,
                 .where = of.url(),
                 .what = size_of(of),
                 .pair = {},
                 .host = of.host});
  }
  std::unordered_map<std::string, std::string> url_in_b;
  for (auto const& pair : made.alignment.pairs) {
    url_in_b.try_emplace(made.a.exchanges[pair.a].url(), made.b.exchanges[pair.b].url());
  }
  std::vector<AlignedPair> in_order = made.alignment.pairs;
  std::ranges::sort(in_order, {}, &AlignedPair::a);
  std::vector<std::size_t> places;
  for (auto const& pair : in_order) places.push_back(pair.b);
  for (std::size_t pair = 0; pair < made.alignment.pairs.size(); ++pair) {
    auto const& a = builder.a(pair);
    auto const& b = builder.b(pair);
    if (a.url() != b.url()) {
      builder.add({.kind = DifferenceKind::kUrl,
                   .where = b.url(),
                   .what = "instead of " + a.url(),
                   .pair = pair,
                   .host = b.host});
    }
    auto const same = url_in_b.find(a.referer);
    bool const known = !a.referer.empty() && !b.referer.empty();
    if (known && (same == url_in_b.end() ? a.referer : same->second) != b.referer) {
      builder.add({.kind = DifferenceKind::kInitiator,
                   .where = b.url(),
                   .what = b.referer + " instead of " + a.referer,
                   .pair = pair,
                   .host = b.host});
    }
  }
  if (auto const moved = out_of_order(places); moved > 0) {
    builder.add({.kind = DifferenceKind::kOrder,
                 .where = made.b.exchanges.front().url(),
                 .what = counted(moved, "request") + " of " + std::to_string(places.size()) +
                         " in another order",
                 .pair = {},
                 .host = {}});
  }
}

}  // namespace reprise
