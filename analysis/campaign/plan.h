#pragma once

// A campaign cut into shards. Pure.

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/campaign/campaign_file.h"

namespace reprise {

/// One archive to load, or one URL to record.
struct PlannedPage {
  std::string name;    ///< unique; of an archive its file name without suffix
  std::string source;  ///< the archive's absolute path, or the URL
};

/// Loads of one page: `runs` rounds of every cell on every side, after one that warms up.
struct ShardPart {
  std::size_t page = 0;  ///< index into Plan::pages
  std::vector<std::string> browsers, protocols, links, caches;
  unsigned first_run = 1;
  unsigned runs = 1;
};

/// What one process does on one machine. Has at least one part.
struct Shard {
  std::vector<ShardPart> parts;
};

struct Plan {
  CampaignFile campaign;
  std::vector<PlannedPage> pages;
  std::vector<Shard> shards;  ///< their numbers on command lines begin at 1

  static constexpr std::size_t kShardsMax = 1'000'000;
  static constexpr std::size_t kBytesMax = std::size_t{512} << 20;
};

/// Cuts a campaign over `pages` so that a shard takes about its `shard_minutes`. The sides of a
/// page stay together in every shard; a shard has several pages only where one is too short. The
/// same arguments give the same plan. Errors, as a sentence: no page; names that are not unique, or
/// no names of files; a budget that does not pay for two loads of each cell; more than kShardsMax
/// shards.
std::expected<Plan, std::string> plan_campaign(CampaignFile campaign,
                                               std::vector<PlannedPage> pages);

/// What a shard is expected to take.
double expected_seconds(const Plan& plan, const Shard& shard);
/// Loads that count, without those that warm up: of all cells and sides; or pages to record or
/// advise on.
std::size_t planned_loads(const Plan& plan, const Shard& shard);
/// Of the order of a part's loads: depends on the campaign's seed, the page and the first run.
std::uint64_t seed_of(const Plan& plan, const ShardPart& part);

/// One line of JSON, `reprise-plan/1`. The same plan gives the same bytes.
std::string plan_text(const Plan& plan);
/// Errors: a sentence.
std::expected<Plan, std::string> read_plan(std::string_view text);
/// Names a plan in commands and results: 16 hexadecimal digits of the text's SHA-256.
std::string plan_digest(std::string_view text);

}  // namespace reprise
