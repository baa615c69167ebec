#pragma once

// Results of shards for tests.

#include <string>
#include <utility>
#include <vector>

#include "analysis/campaign/shard_result.h"

namespace reprise {

/// `runs` loads, after one that warms up, of a page of two requests.
inline LoadResult result_with(unsigned runs, const std::string& sha256 = "aa") {
  LoadResult result{.archive = "/corpus/page0.reprise", .archive_sha256 = sha256};
  result.browsers = {{.name = "chromium", .version = "Chrome/156", .flags = {}}};
  for (unsigned run = 0; run <= runs; ++run) {
    LoadResult::Load load{.run = run, .warm_up = run == 0, .replay = run};
    load.page.url = "https://a.test/";
    load.page.load_event_ms = 1000 + run;
    load.page.requests = {{.url = "https://a.test/", .method = "GET"},
                          {.url = "https://a.test/x.js", .method = "GET"}};
    // One request that few loads make is not of the page.
    if (run == 1) load.page.requests.push_back({.url = "https://b.test/once", .method = "GET"});
    result.replays.push_back({.run = run});
    result.loads.push_back(std::move(load));
  }
  return result;
}

inline ShardHeader header_of(std::size_t shard, std::string node) {
  return {.plan = "p", .shard = shard, .node = std::move(node), .seconds = 100, .loads = 10};
}

}  // namespace reprise
