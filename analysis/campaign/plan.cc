#include "analysis/campaign/plan.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cmath>
#include <ranges>
#include <set>
#include <utility>

#include "analysis/campaign/file_name.h"
#include "base/http/digest.h"
#include "base/text/counted.h"
#include "base/text/printable.h"
#include "pageload/results/fields.h"

namespace json = boost::json;

namespace reprise {
namespace {

constexpr std::string_view kPlanSchema = "reprise-plan/1";
using Dimension = std::vector<std::string> ShardPart::*;
/// The outermost first: what has other values in it is best measured apart.
constexpr Dimension kDimensions[] = {&ShardPart::browsers, &ShardPart::protocols,
                                     &ShardPart::caches, &ShardPart::links};

double round_seconds(const CampaignFile& campaign, const ShardPart& part) {
  auto loads = static_cast<double>(campaign.sides.size());
  for (auto const dimension : kDimensions) loads *= static_cast<double>((part.*dimension).size());
  return loads * campaign.load_seconds;
}

double part_seconds(const CampaignFile& campaign, const ShardPart& part) {
  switch (campaign.task) {
    case CampaignFile::Task::kRecord:
      return campaign.load_seconds;
    case CampaignFile::Task::kAdvise:
      return campaign.advise_minutes * 60;
    case CampaignFile::Task::kLoad:
      break;
  }
  return round_seconds(campaign, part) * (part.runs + 1);
}

/// Divides the cells until two rounds of them fit into a shard, or there is only one cell.
void divide_cells(const CampaignFile& campaign, ShardPart part, std::vector<ShardPart>& out) {
  if (2 * round_seconds(campaign, part) > campaign.shard_minutes * 60) {
    for (auto const dimension : kDimensions) {
      if ((part.*dimension).size() < 2) continue;
      for (const std::string& value : std::vector<std::string>(part.*dimension)) {
        part.*dimension = {value};
        divide_cells(campaign, part, out);
      }
      return;
    }
  }
  out.push_back(std::move(part));
}

/// Divides the runs evenly among as few shards as hold them.
void divide_runs(const CampaignFile& campaign, const ShardPart& part, unsigned runs,
                 std::vector<ShardPart>& out) {
  double const rounds = campaign.shard_minutes * 60 / round_seconds(campaign, part);
  auto const most = static_cast<unsigned>(std::max(1.0, std::floor(rounds) - 1));
  unsigned const shards = (runs + most - 1) / most;
  for (unsigned shard = 0, first = 1; shard < shards; ++shard) {
    unsigned const of_this = runs / shards + (shard < runs % shards ? 1 : 0);
    out.push_back(part);
    out.back().first_run = first;
    out.back().runs = of_this;
    first += of_this;
  }
}

std::vector<ShardPart> parts_of(const CampaignFile& campaign, std::size_t page, unsigned runs) {
  ShardPart whole{.page = page,
                  .browsers = campaign.browsers,
                  .protocols = campaign.protocols,
                  .links = campaign.links,
                  .caches = campaign.caches};
  if (campaign.task != CampaignFile::Task::kLoad) return {whole};
  std::vector<ShardPart> cells, parts;
  divide_cells(campaign, std::move(whole), cells);
  for (const ShardPart& part : cells) divide_runs(campaign, part, runs, parts);
  return parts;
}

constexpr unsigned kRunsMin = 2;
constexpr unsigned kRunsMax = 10'000;

/// Of each cell: as given, or those that the budget pays for.
std::expected<unsigned, std::string> runs_of(const CampaignFile& campaign, std::size_t pages) {
  if (campaign.budget_hours <= 0 || campaign.task != CampaignFile::Task::kLoad) {
    return campaign.loads;
  }
  auto const hours = [&](unsigned runs) {
    double seconds = 0;
    for (const ShardPart& part : parts_of(campaign, 0, runs)) {
      seconds += part_seconds(campaign, part);
    }
    return seconds * static_cast<double>(pages) / 3600;
  };
  if (hours(kRunsMin) > campaign.budget_hours) {
    return std::unexpected("budget_hours must be at least " +
                           std::to_string(std::lround(std::ceil(hours(kRunsMin)))) +
                           " for two loads of each cell, and those that warm up");
  }
  // More runs never take less time.
  auto const all = std::views::iota(kRunsMin, kRunsMax + 1);
  auto const over = std::ranges::partition_point(
      all, [&](unsigned runs) { return hours(runs) <= campaign.budget_hours; });
  return kRunsMin + static_cast<unsigned>(over - all.begin()) - 1;
}

json::array texts_of(const std::vector<std::string>& texts) {
  json::array out;
  for (const std::string& text : texts) out.emplace_back(as_utf8(text));
  return out;
}

json::object part_json(const Plan& plan, const ShardPart& part) {
  json::object out{{"page", part.page}};
  if (plan.campaign.task == CampaignFile::Task::kRecord) return out;
  out["browsers"] = texts_of(part.browsers);
  out["protocols"] = texts_of(part.protocols);
  out["links"] = texts_of(part.links);
  out["caches"] = texts_of(part.caches);
  out["first_run"] = part.first_run;
  out["runs"] = part.runs;
  return out;
}

ShardPart part_of(Fields from, std::size_t pages) {
  ShardPart part{.page = static_cast<std::size_t>(from.integer("page")),
                 .browsers = from.texts("browsers"),
                 .protocols = from.texts("protocols"),
                 .links = from.texts("links"),
                 .caches = from.texts("caches"),
                 .first_run = static_cast<unsigned>(from.integer("first_run", 1)),
                 .runs = static_cast<unsigned>(from.integer("runs", 1))};
  if (part.page >= pages) from.wrong("page", "is not a page of the plan");
  return part;
}

void read_plan_fields(Fields from, Plan& plan) {
  if (from.text("schema") != kPlanSchema) {
    return from.wrong("schema", "must be \"" + std::string(kPlanSchema) + "\"");
  }
  auto campaign = campaign_of(from.into("campaign").object());
  if (!campaign) return from.wrong("campaign", "cannot be used: " + campaign.error());
  plan.campaign = std::move(*campaign);
  from.each("pages", Fields::kListMax, [&](Fields page) {
    plan.pages.push_back({.name = page.text("name"), .source = page.text("source")});
    if (!is_file_name(plan.pages.back().name)) page.wrong("name", kFileNameRule);
  });
  from.each("shards", Plan::kShardsMax, [&](Fields shard) {
    plan.shards.emplace_back();
    shard.each("parts", Fields::kListMax, [&](Fields part) {
      plan.shards.back().parts.push_back(part_of(std::move(part), plan.pages.size()));
    });
    if (plan.shards.back().parts.empty()) shard.wrong("parts", "must not be empty");
  });
}

}  // namespace

std::expected<Plan, std::string> plan_campaign(CampaignFile campaign,
                                               std::vector<PlannedPage> pages) {
  if (pages.empty()) return std::unexpected("the campaign has no page");
  std::set<std::string> names;
  for (const PlannedPage& page : pages) {
    if (!is_file_name(page.name)) {
      return std::unexpected("an archive is named '" + printable(page.name) + "': it " +
                             kFileNameRule);
    }
    if (!names.insert(page.name).second) {
      return std::unexpected("two archives are named '" + printable(page.name) +
                             "': rename one, since their results would have one name");
    }
  }
  auto const runs = runs_of(campaign, pages.size());
  if (!runs) return std::unexpected(runs.error());
  Plan plan{.campaign = std::move(campaign), .pages = std::move(pages), .shards = {}};
  double filled = 0;
  for (std::size_t page = 0; page < plan.pages.size(); ++page) {
    for (ShardPart& part : parts_of(plan.campaign, page, *runs)) {
      double const seconds = part_seconds(plan.campaign, part);
      bool const fits = filled + seconds <= plan.campaign.shard_minutes * 60;
      if (plan.shards.empty() || !fits) {
        plan.shards.emplace_back();
        filled = 0;
      }
      filled += seconds;
      plan.shards.back().parts.push_back(std::move(part));
      if (plan.shards.size() > Plan::kShardsMax) {
        return std::unexpected("the plan would have more than " +
                               counted(Plan::kShardsMax, "shard") + ": divide the campaign");
      }
    }
  }
  return plan;
}

double expected_seconds(const Plan& plan, const Shard& shard) {
  double seconds = 0;
  for (const ShardPart& part : shard.parts) seconds += part_seconds(plan.campaign, part);
  return seconds;
}

std::size_t planned_loads(const Plan& plan, const Shard& shard) {
  if (plan.campaign.task != CampaignFile::Task::kLoad) return shard.parts.size();
  std::size_t loads = 0;
  for (const ShardPart& part : shard.parts) {
    loads += part.browsers.size() * part.protocols.size() * part.links.size() * part.caches.size() *
             part.runs * plan.campaign.sides.size();
  }
  return loads;
}

std::uint64_t seed_of(const Plan& plan, const ShardPart& part) {
  auto const digest =
      sha256_hex(std::to_string(plan.campaign.seed) + '\0' + plan.pages[part.page].name + '\0' +
                 std::to_string(part.first_run));
  return std::stoull(digest.substr(0, 12), nullptr, 16);  // 48 bits: exact in every JSON reader
}

std::string plan_text(const Plan& plan) {
  json::array pages, shards;
  for (const PlannedPage& page : plan.pages) {
    pages.push_back({{"name", as_utf8(page.name)}, {"source", as_utf8(page.source)}});
  }
  for (const Shard& shard : plan.shards) {
    json::array parts;
    for (const ShardPart& part : shard.parts) parts.push_back(part_json(plan, part));
    shards.push_back({{"parts", std::move(parts)}});
  }
  json::object const out{{"schema", kPlanSchema},
                         {"campaign", to_json(plan.campaign)},
                         {"pages", std::move(pages)},
                         {"shards", std::move(shards)}};
  return json::serialize(out) + "\n";
}

std::expected<Plan, std::string> read_plan(std::string_view text) {
  boost::system::error_code malformed;
  auto const parsed = json::parse(text, malformed);
  if (malformed) return std::unexpected("it is not JSON: " + malformed.message());
  if (!parsed.is_object()) return std::unexpected("it is not a JSON object");
  Plan plan;
  std::string error;
  read_plan_fields(Fields(parsed.get_object(), "", error), plan);
  if (!error.empty()) return std::unexpected(error);
  return plan;
}

std::string plan_digest(std::string_view text) {
  return sha256_hex(text).substr(0, 16);
}

}  // namespace reprise
