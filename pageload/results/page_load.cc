#include "pageload/results/page_load.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/http/digest.h"
#include "base/http/url_parts.h"

namespace reprise {
namespace {

constexpr std::array<std::pair<LoadOutcome, std::string_view>, 5> kOutcomes = {{
    {LoadOutcome::kLoaded, "loaded"},
    {LoadOutcome::kTimedOut, "timed-out"},
    {LoadOutcome::kNavigationFailed, "navigation-failed"},
    {LoadOutcome::kBrowserDied, "browser-died"},
    {LoadOutcome::kNotInArchive, "not-in-archive"},
}};

double encoded_bytes(const PageLoad& load) {
  double sum = 0;
  for (const PageRequest& request : load.requests) {
    sum += static_cast<double>(request.encoded_bytes);
  }
  return sum;
}

std::optional<double> connection_count(const PageLoad& load) {
  std::set<std::int64_t> connections;
  for (const PageRequest& request : load.requests) {
    if (request.connection >= 0) connections.insert(request.connection);
  }
  if (connections.empty()) return std::nullopt;
  return static_cast<double>(connections.size());
}

}  // namespace

std::string_view to_string(LoadOutcome outcome) {
  auto const* const found =
      std::ranges::find(kOutcomes, outcome, [](auto const& each) { return each.first; });
  return found == kOutcomes.end() ? std::string_view() : found->second;
}

LoadOutcome load_outcome(std::string_view name) {
  auto const* const found =
      std::ranges::find(kOutcomes, name, [](auto const& each) { return each.second; });
  return found == kOutcomes.end() ? LoadOutcome::kUnknown : found->first;
}

std::string why_not_loaded(const PageLoad& load) {
  return load.failure.empty() ? std::string(to_string(load.outcome)) : load.failure;
}

int document_status(const PageLoad& load) {
  auto const page = without_fragment(load.final_url);
  const PageRequest* document = nullptr;
  for (const PageRequest& request : load.requests) {
    bool const redirects = request.status >= 300 && request.status < 400 && request.status != 304;
    if (redirects || request.resource_type != "Document") continue;
    // Documents of frames come later; a document that scripts navigated to has the page's URL.
    bool const is_final = !page.empty() && request.url == page;
    if (document == nullptr || is_final) document = &request;
  }
  return document == nullptr ? 0 : document->status;
}

void sum_up(PageLoad& load) {
  if (!load.encoded_bytes) load.encoded_bytes = encoded_bytes(load);
  if (!load.request_count) load.request_count = static_cast<double>(load.requests.size());
  if (!load.connection_count) load.connection_count = connection_count(load);
  if (!load.dom_sha256 && load.dom && !load.dom->empty()) load.dom_sha256 = sha256_hex(*load.dom);
}

}  // namespace reprise
