#include "analysis/sources/trace_requests.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>
#include <set>
#include <string_view>

#include "base/http/url_parts.h"

namespace reprise {
namespace {

/// From the end of a redirect to the request that it leads to.
constexpr std::int64_t kRedirectGapUs = 1'000;
/// Each time is rounded to a microsecond.
constexpr std::int64_t kTimeRoundingUs = 1;

/// The URLs of the requests of that type.
std::set<std::string, std::less<>> requested(const CallTree& tree, std::string_view type) {
  std::set<std::string, std::less<>> urls;
  for (Call const& call : tree.calls) {
    if (call.kind == CallKind::kRequest && call.attribute("type") == type) {
      urls.emplace(without_fragment(call.name));
    }
  }
  return urls;
}

/// The request with that initiator that starts nearest to the end of `hop`, and not before it; or
/// null.
Call* redirect_target(CallTree& tree, const Call& hop, std::string_view initiator) {
  Call* nearest = nullptr;
  std::int64_t least_us = kRedirectGapUs + 1;
  for (Call& each : tree.calls) {
    auto const gap_us = each.start_us - hop.end_us;
    bool const can_be = each.kind == CallKind::kRequest && gap_us >= -kTimeRoundingUs &&
                        std::abs(gap_us) < least_us && each.attribute("initiator") == initiator;
    if (!can_be) continue;
    nearest = &each;
    least_us = std::abs(gap_us);
  }
  return nearest;
}

/// Also of the requests that it is redirected to, which start when the answer is there.
void name_initiator(CallTree& tree, Call& call, const std::string& initiator) {
  auto const before = std::string(call.attribute("initiator"));
  if (before == initiator) return;
  for (Call* hop = &call; hop != nullptr;) {
    hop->set("initiator", initiator);
    if (!is_redirect(*hop)) return;
    hop = redirect_target(tree, *hop, before);
  }
}

}  // namespace

void name_running_scripts(CallTree& tree) {
  auto const documents = requested(tree, "Document");
  auto const scripts = requested(tree, "Script");
  std::vector<const Call*> running;  // outermost, by their starts
  for (Call const& call : tree.calls) {
    bool const is_script = call.kind == CallKind::kTask && !call.attribute("url").empty();
    bool const is_inside = !running.empty() && call.start_us < running.back()->end_us;
    if (is_script && !is_inside) running.push_back(&call);
  }
  for (Call& call : tree.calls) {
    if (call.kind != CallKind::kRequest) continue;
    if (!documents.contains(without_fragment(call.attribute("initiator")))) continue;
    auto const after = std::ranges::upper_bound(running, call.start_us, {}, &Call::start_us);
    if (after == running.begin() || call.start_us > (*std::prev(after))->end_us) continue;
    auto const url = (*std::prev(after))->attribute("url");
    if (scripts.contains(without_fragment(url))) name_initiator(tree, call, std::string(url));
  }
}

void name_render_blocking(std::vector<SentRequest> sent, CallTree& tree) {
  std::ranges::sort(sent, {}, &SentRequest::at_us);
  std::multimap<std::string_view, Call*> requests;
  for (Call& call : tree.calls) {
    if (call.kind == CallKind::kRequest) requests.emplace(without_fragment(call.name), &call);
  }
  for (SentRequest const& each : sent) {
    auto const url = without_fragment(each.url);
    auto const request = requests.lower_bound(url);
    if (request == requests.end() || request->first != url) continue;
    bool const tells = each.counts && !each.render_blocking.empty();
    if (tells) request->second->set("render_blocking", each.render_blocking);
    requests.erase(request);
  }
}

}  // namespace reprise
