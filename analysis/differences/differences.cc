#include "analysis/differences/differences.h"

#include <algorithm>
#include <array>
#include <utility>

#include "analysis/differences/builder.h"

namespace reprise {

std::string_view to_string(DifferenceKind kind) {
  constexpr std::array<std::string_view, kDifferenceKindCount> kNames{
      "request more", "request less", "URL",      "content",        "coding",
      "status",       "redirect",     "caching",  "hints",          "policy",
      "priority",     "connection",   "order",    "initiator",      "think time",
      "certificates", "coalescing",   "protocol", "name resolution"};
  return kNames[std::size_t(kind)];
}

bool PageDifference::can_be_put_in() const {
  switch (kind) {
    case DifferenceKind::kContent:
    case DifferenceKind::kCoding:
    case DifferenceKind::kStatus:
    case DifferenceKind::kRedirect:
    case DifferenceKind::kCaching:
    case DifferenceKind::kHints:
    case DifferenceKind::kPolicy:
    case DifferenceKind::kPriority:
    case DifferenceKind::kConnection:
    case DifferenceKind::kThinkTime:
    case DifferenceKind::kChain:
    case DifferenceKind::kCoalescing:
    case DifferenceKind::kProtocol:
    case DifferenceKind::kNameResolution:
      return true;
    case DifferenceKind::kCame:  // a hybrid has all requests: what mentions them is put in
    case DifferenceKind::kWent:
    case DifferenceKind::kUrl:
    case DifferenceKind::kOrder:
    case DifferenceKind::kInitiator:
      return false;
  }
  std::unreachable();
}

Differences find_differences(RecordedPage a, RecordedPage b, const PageBodies& bodies_of_a,
                             const PageBodies& bodies_of_b) {
  DifferenceBuilder builder;
  builder.made.alignment = align(a, b);
  builder.made.a = std::move(a);
  builder.made.b = std::move(b);
  compare_responses(builder, bodies_of_a, bodies_of_b);
  compare_requests(builder);
  compare_hosts(builder);
  group_differences(builder);
  return std::move(builder.made);
}

void leave_out_names(Differences& differences) {
  for (DifferenceGroup& group : differences.groups) {
    auto const is_name = [&](std::size_t i) {
      return differences.all[i].kind == DifferenceKind::kNameResolution;
    };
    if (!std::ranges::all_of(group.differences, is_name)) continue;
    group.can_be_put_in = false;
    group.title += " (needs --link)";
  }
}

}  // namespace reprise
