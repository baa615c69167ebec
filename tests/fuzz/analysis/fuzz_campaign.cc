// What a campaign reads that others wrote: the campaign, its plan, results of shards, checks of
// nodes, owners, lines that engines carry, partial results. What is accepted can be read again once
// it is written, and says the same.

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>

#include "analysis/campaign/collection.h"
#include "analysis/campaign/digest.h"
#include "analysis/campaign/nodes.h"
#include "analysis/campaign/owners.h"
#include "analysis/campaign/plan.h"
#include "analysis/campaign/progress.h"
#include "analysis/campaign/shard_result.h"
#include "analysis/partials/partial_table.h"

using namespace reprise;
namespace json = boost::json;

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

/// Numbers with fractions can change in their last bit when they are read again.
void take_fractions(CampaignFile& to, const CampaignFile& from) {
  to.budget_hours = from.budget_hours;
  to.shard_minutes = from.shard_minutes;
  to.load_seconds = from.load_seconds;
  to.advise_minutes = from.advise_minutes;
}

void check_same(const Plan& plan) {
  auto again = read_plan(plan_text(plan));
  check(again.has_value());
  take_fractions(again->campaign, plan.campaign);
  check(plan_text(*again) == plan_text(plan));
}

void check_campaign(std::string_view text) {
  auto const campaign = parse_campaign(text);
  if (!campaign) return check(!campaign.error().empty());
  auto const written = to_json(*campaign);
  auto const again = campaign_of(written);
  check(again && to_json(*again) == written);
  auto const plan = plan_campaign(*campaign, {{"a", "/a.reprise"}, {"b", "/b.reprise"}});
  if (!plan) return check(!plan.error().empty());
  check_same(*plan);
}

void check_plan(std::string_view text) {
  auto const plan = read_plan(text);
  if (!plan) return check(!plan.error().empty());
  check_same(*plan);
  CampaignFacts facts;
  for (std::size_t shard = 1; shard <= plan->shards.size(); shard += 2) {
    facts.results.push_back({.plan = plan_digest(text), .shard = shard, .node = "n"});
  }
  auto const progress = progress_of(*plan, facts);
  check(progress.missing.size() + facts.results.size() == plan->shards.size());
  check(!progress_text(progress).empty());
  for (const Shard& shard : plan->shards) {
    for (const ShardPart& part : shard.parts) seed_of(*plan, part);
  }
}

/// All records of a shard, as those of one page.
void check_shard(std::string_view text) {
  auto records = ShardRecords::open(text);
  if (!records) return check(!records.error().empty());
  auto const header = read_header(header_line(records->header()));
  check(header && header->shard == records->header().shard);
  Plan plan;
  plan.pages = {{"a", "/a.reprise"}};
  plan.campaign.sides = {{.name = "A", .flags = {}, .archives = {}}};
  PageCollection collection(plan, 0);
  while (records->more()) {
    auto record = records->next();
    if (!record) return check(!record.error().empty());
    if (auto const fault = collection.add(records->header(), std::move(*record))) {
      return check(!fault->empty());
    }
  }
  auto const page = page_line_text({7, json::serialize(collection.summary()), collection.cells()});
  auto const again = read_page_line(std::string_view(page).substr(0, page.size() - 1));
  check(again && again->page == 7 && page_line_text(*again) == page);
}

void check_page_line(std::string_view text) {
  auto const line = read_page_line(text);
  if (!line) return;
  auto const written = page_line_text(*line);
  auto const again = read_page_line(std::string_view(written).substr(0, written.size() - 1));
  check(again && page_line_text(*again) == written);
}

void check_node(std::string_view text) {
  auto const node = read_node_check(text);
  if (!node) return check(!node.error().empty());
  auto const again = read_node_check(json::serialize(to_json(*node)));
  check(again && again->node == node->node && again->problems == node->problems);
  NodeCheck const nodes[] = {*node, *again};
  for (const RefusedNode& refused : refused_nodes(nodes)) check(!refused.why.empty());
}

void check_owners(std::string_view text) {
  auto const owners = Owners::parse(text);
  if (!owners) return check(!owners.error().empty());
  check(!owners->owner_of("checkout", "https://shop.test/cart").empty());
}

/// A page of set.json, now and before.
void check_digest(std::string_view text) {
  boost::system::error_code malformed;
  auto const value = json::parse(text, malformed);
  if (malformed || !value.is_object()) return;
  auto const page = advised_page(value.get_object());
  AdvisedPage const pages[] = {page};
  std::map<std::string, AdvisedPage> const before{{page.page, page}};
  auto const changes = changes_since(pages, before);
  check(!digest_markdown(owner_digest("web", pages, before, changes)).empty());
}

void check_partials(std::string_view text) {
  std::string merged, again;
  PartialMerge merge([&](std::string_view line) { merged += line; });
  PartialMerge twice([&](std::string_view line) { again += line; });
  auto const add_all = [](PartialMerge& to, std::string_view lines) {
    while (!lines.empty()) {
      auto const end = lines.find('\n');
      if (!to.add(lines.substr(0, end)).empty()) return false;
      lines.remove_prefix(end == lines.npos ? lines.size() : end + 1);
    }
    to.finish();
    return true;
  };
  if (!add_all(merge, text)) return;
  check(add_all(twice, merged) && again == merged);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view const text(reinterpret_cast<const char*>(data), size);
  check_campaign(text);
  check_plan(text);
  check_shard(text);
  check_page_line(text);
  check_node(text);
  check_owners(text);
  check_digest(text);
  check_partials(text);
  return 0;
}
