#include "proxy/record/trace_context.h"

#include "base/http/registrable_domain.h"
#include "base/http/resource_type.h"
#include "base/http/traceparent.h"

namespace reprise {
namespace {

bool asks_for_a_page_itself(const RequestHead& request) {
  // Pages cannot change these fields. Browsers send the first one to https and to localhost only.
  if (auto const what = find_header(request.headers, "Sec-Fetch-Dest")) {
    if (*what == "document") return true;
    // Of a page or of a frame.
    if (!is_of_passed_on_navigation(request.headers)) return false;
  }
  return !find_header(request.headers, "Origin") && !find_header(request.headers, "Referer");
}

}  // namespace

std::optional<std::string> TraceContext::value_for(const RequestHead& request) {
  auto const site = registrable_domain(request.host);
  if (asks_for_a_page_itself(request) && sites_.size() < kSitesMax) sites_.emplace(site);
  if (!sites_.contains(site) || find_header(request.headers, TraceParent::kField)) {
    return std::nullopt;
  }
  // Ids must not be 0.
  auto const high = random_();
  auto const low = random_();
  return traceparent(high, low | 1, random_() | 1);
}

TracedRequest::TracedRequest(const RequestHead& received, TraceContext* context) : head_(received) {
  if (context == nullptr) return;
  value_ = context->value_for(received);
  if (!value_) return;
  fields_.assign(received.headers.begin(), received.headers.end());
  fields_.push_back({.name = TraceParent::kField, .value = *value_});
  head_.headers = fields_;
}

}  // namespace reprise
