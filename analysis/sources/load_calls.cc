#include "analysis/sources/load_calls.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string_view>

#include "analysis/sources/request_call.h"
#include "base/http/url_parts.h"

namespace reprise {
namespace {

/// -1 stays -1.
std::int64_t us(double ms) {
  return ms < 0 ? RequestTimes::kUnknown : std::llround(std::min(ms, 1e9) * 1000);
}

RequestTimes times_of(const RequestTiming& timing) {
  return {.dns_start = us(timing.dns_start_ms),
          .dns_end = us(timing.dns_end_ms),
          .connect_start = us(timing.connect_start_ms),
          .tls_start = us(timing.tls_start_ms),
          .connect_end = us(timing.connect_end_ms),
          .send_start = us(timing.send_start_ms),
          .send_end = us(timing.send_end_ms),
          .first_byte = us(timing.first_byte_ms)};
}

void add(CallTree& tree, const PageRequest& request) {
  if (request.start_ms < 0) return tree.lose("requests without a start, skipped");
  Call call{.name = request.url, .start_us = us(request.start_ms)};
  call.end_us = us(request.end_ms);
  if (request.end_ms < 0) {
    tree.lose("requests that did not end before the load did");
    call.end_us = tree.window_us + 1;
    call.set("unfinished", "yes");
  }
  call.end_us = std::max(call.end_us, call.start_us);
  set_if_any(call, "method", request.method);
  set_if_any(call, "type", request.resource_type);
  if (request.status > 0) call.set("status", std::to_string(request.status));
  set_if_any(call, "protocol", request.protocol);
  set_if_any(call, "address", request.remote_address);
  set_if_any(call, "mime", request.mime_type);
  set_if_any(call, "failure", request.failure);
  set_if_any(call, "initiator", request.initiator);
  set_if_any(call, "priority", request.priority);
  if (request.connection >= 0) call.set("connection", std::to_string(request.connection));
  call.set("bytes", std::to_string(request.encoded_bytes));
  if (request.from_cache) call.set("cached", "yes");
  add_request(tree, std::move(call), request.timing ? times_of(*request.timing) : RequestTimes());
}

CallTree tree_of(const LoadResult& result, const LoadResult::Load& load) {
  PageLoad const& page = load.page;
  CallTree tree{.page = page.final_url.empty() ? page.url : page.final_url};
  if (page.started_unix_ms > 0) tree.started_unix_ms = page.started_unix_ms;
  auto const end = page.load_event_ms ? page.load_event_ms : page.last_resource_ms;
  tree.window_us = us(end.value_or(0));
  auto const& configuration = load.configuration;
  tree.tags = {{"browser", configuration.browser},
               {"protocol", configuration.protocol},
               {"link", configuration.link},
               {"cache", configuration.cache}};
  if (!result.archive.empty()) {
    tree.tags.emplace_back("archive", std::filesystem::path(result.archive).filename().string());
  }
  for (PageRequest const& request : page.requests) add(tree, request);
  tree.lose("requests beyond the limit of a result", page.requests_not_kept);
  normalize(tree);
  return tree;
}

bool is_redirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

}  // namespace

std::vector<LoadCalls> calls_of(const LoadResult& result, std::vector<CallLoss>& losses) {
  CallTree counts;
  std::vector<LoadCalls> loads;
  for (std::size_t i = 0; i < result.loads.size(); ++i) {
    LoadResult::Load const& load = result.loads[i];
    if (load.warm_up) continue;
    if (load.page.outcome != LoadOutcome::kLoaded) {
      counts.lose("loads that failed, skipped");
    } else if (!load.skipped.empty()) {
      counts.lose("loads that were skipped when they were measured");
    } else {
      loads.push_back({.load = i, .tree = tree_of(result, load)});
    }
  }
  losses.insert(losses.end(), counts.losses.begin(), counts.losses.end());
  return loads;
}

std::vector<std::string> urls_in_trace(const PageLoad& page) {
  std::vector<std::string> urls;
  auto const take = [&urls](std::string_view url) {
    url = without_fragment(url);
    if (!url.empty() && std::ranges::find(urls, url) == urls.end()) urls.emplace_back(url);
  };
  take(page.url);
  auto const document = std::ranges::find_if(page.requests, [](const PageRequest& request) {
    return request.resource_type == "Document" && !is_redirect(request.status);
  });
  if (document != page.requests.end()) take(document->url);
  take(page.final_url);
  return urls;
}

}  // namespace reprise
