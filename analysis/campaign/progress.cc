#include "analysis/campaign/progress.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <cmath>
#include <cstdio>
#include <tuple>
#include <utility>

#include "base/text/counted.h"
#include "base/text/printable.h"

namespace json = boost::json;

namespace reprise {
namespace {

bool is_refused(const std::vector<RefusedNode>& refused, const std::string& node) {
  return std::ranges::find(refused, node, &RefusedNode::node) != refused.end();
}

void add_clock_remarks(std::span<const NodeCheck> nodes, CampaignProgress& progress) {
  for (const NodeCheck& check : nodes) {
    if (std::abs(check.clock_ahead_s) <= kClockSeconds) continue;
    progress.remarks.push_back(
        "the clock of node " + check.node + " is " + time_text(std::abs(check.clock_ahead_s)) +
        (check.clock_ahead_s > 0 ? " fast" : " slow") + ": set it (results do not depend on it)");
  }
}

/// Pages of which every load failed in all shards that are done.
class FailedPages {
 public:
  explicit FailedPages(const Plan& plan) : plan_(plan), parts_(plan.pages.size()) {}

  void add(const ShardHeader& header) {
    for (const ShardPart& part : plan_.shards[header.shard - 1].parts) ++parts_[part.page];
    for (const PageFailure& each : header.failures) {
      if (each.page >= parts_.size()) continue;
      auto& sum = failed_[{each.page, each.side, each.url}];
      ++sum.parts;
      sum.loads += each.loads;
      if (sum.why.empty()) sum.why = each.why;
    }
  }

  std::vector<PageFailure> all() const {
    std::vector<PageFailure> out;
    for (auto const& [key, of_key] : failed_) {
      auto const& [page, side, url] = key;
      auto sum = of_key;
      PageFailure failure{
          .page = page, .name = plan_.pages[page].name, .side = side, .url = url, .why = sum.why};
      auto const of_all = failed_.find({page, "", ""});
      if (!failure.is_of_all() && of_all != failed_.end()) {
        sum.parts += of_all->second.parts;
        sum.loads += of_all->second.loads;
      }
      if (sum.parts < parts_[page]) continue;
      failure.loads = sum.loads;
      bool const is_url = plan_.campaign.task == CampaignFile::Task::kRecord;
      if (is_url) failure.url = plan_.pages[page].source;
      out.push_back(std::move(failure));
    }
    return out;
  }

 private:
  struct Sum {
    std::size_t parts = 0, loads = 0;
    std::string why;
  };
  const Plan& plan_;
  std::vector<std::size_t> parts_;  ///< that are done, by page
  std::map<std::tuple<std::size_t, std::string, std::string>, Sum> failed_;
};

}  // namespace

std::string time_text(double seconds) {
  char text[32];
  if (seconds < 100) {
    std::snprintf(text, sizeof text, "%.0f s", std::ceil(seconds));
  } else if (seconds < 100 * 60) {
    std::snprintf(text, sizeof text, "%.0f min", std::ceil(seconds / 60));
  } else if (seconds < 72 * 3600) {
    std::snprintf(text, sizeof text, "%.1f h", std::ceil(seconds / 360) / 10);
  } else {
    std::snprintf(text, sizeof text, "%.1f days", std::ceil(seconds / 8640) / 10);
  }
  return text;
}

CampaignProgress progress_of(const Plan& plan, const CampaignFacts& facts) {
  CampaignProgress progress{.shards = plan.shards.size(), .refused = refused_nodes(facts.nodes)};
  std::vector<bool> done(plan.shards.size());
  FailedPages failed(plan);
  double expected_done = 0;
  for (const ShardHeader& header : facts.results) {
    if (header.shard == 0 || header.shard > done.size()) continue;
    if (is_refused(progress.refused, header.node)) {
      ++progress.reasons["measured by a node that is refused now"];
      continue;
    }
    done[header.shard - 1] = true;
    failed.add(header);
    progress.loads += header.loads;
    progress.loads_planned += header.loads;
    progress.failed_loads += header.failed;
    progress.machine_seconds += header.seconds;
    expected_done += expected_seconds(plan, plan.shards[header.shard - 1]);
    auto& node = progress.nodes[header.node];
    ++node.shards;
    node.seconds += header.seconds;
  }
  double expected_missing = 0;
  for (std::size_t shard = 0; shard < done.size(); ++shard) {
    if (done[shard]) continue;
    progress.loads_planned += planned_loads(plan, plan.shards[shard]);
    progress.missing.push_back(shard + 1);
    expected_missing += expected_seconds(plan, plan.shards[shard]);
  }
  progress.failed_pages = failed.all();
  for (const ShardFailure& failure : facts.failures) {
    bool const counts = failure.shard > 0 && failure.shard <= done.size();
    if (counts && !done[failure.shard - 1]) ++progress.reasons[failure.text()];
  }
  double const pace = expected_done > 0 ? progress.machine_seconds / expected_done : 1;
  progress.seconds_left = pace * expected_missing /
                          static_cast<double>(std::max<std::size_t>(1, progress.nodes.size()));
  if (facts.foreign > 0) {
    progress.remarks.push_back(
        counted(facts.foreign, "result") +
        " of another plan: ignored. Plan into another folder to keep both campaigns");
  }
  add_clock_remarks(facts.nodes, progress);
  return progress;
}

std::string progress_text(const CampaignProgress& progress) {
  auto const done = progress.shards - progress.missing.size();
  auto text = std::to_string(done) + " of " + counted(progress.shards, "shard") + " done, " +
              std::to_string(progress.loads) + " of " + counted(progress.loads_planned, "load");
  if (progress.failed_loads > 0) text += " (" + std::to_string(progress.failed_loads) + " failed)";
  if (!progress.missing.empty()) {
    text += ", about " + time_text(progress.seconds_left) + " left on " +
            counted(std::max<std::size_t>(1, progress.nodes.size()), "node");
  }
  text += "\n";
  for (auto const& [name, node] : progress.nodes) {
    text += "node " + printable(name) + ": " + counted(node.shards, "shard") + ", " +
            time_text(node.seconds) + "\n";
  }
  for (const RefusedNode& node : progress.refused) {
    text += "node " + printable(node.node) + " is refused: " + printable(node.why) + "\n";
  }
  for (auto const& [reason, shards] : progress.reasons) {
    text += counted(shards, "missing shard") + ": " + printable(reason) + "\n";
  }
  std::vector<std::string> failures;
  for (const PageFailure& each : progress.failed_pages) failures.push_back(failure_text(each));
  text += failures_text(failures);
  for (const std::string& remark : progress.remarks) text += printable(remark) + "\n";
  return text;
}

json::object to_json(const CampaignProgress& progress) {
  json::object nodes, reasons;
  for (auto const& [name, node] : progress.nodes) {
    nodes[as_utf8(name)] = {{"shards", node.shards}, {"seconds", node.seconds}};
  }
  for (auto const& [reason, shards] : progress.reasons) reasons[as_utf8(reason)] = shards;
  json::array missing, failed_pages, refused, remarks;
  for (auto const shard : progress.missing) missing.push_back(shard);
  for (const PageFailure& each : progress.failed_pages) {
    auto failure = failure_json(each);
    failure["page"] = as_utf8(each.name);
    failed_pages.push_back(std::move(failure));
  }
  for (const RefusedNode& node : progress.refused) {
    refused.push_back({{"node", as_utf8(node.node)}, {"why", as_utf8(node.why)}});
  }
  for (const std::string& remark : progress.remarks) remarks.emplace_back(as_utf8(remark));
  return {{"schema", "reprise-campaign-status/1"},
          {"shards", progress.shards},
          {"done", progress.shards - progress.missing.size()},
          {"missing", std::move(missing)},
          {"loads_planned", progress.loads_planned},
          {"loads", progress.loads},
          {"failed_loads", progress.failed_loads},
          {"failed_pages", std::move(failed_pages)},
          {"machine_seconds", progress.machine_seconds},
          {"seconds_left", progress.seconds_left},
          {"nodes", std::move(nodes)},
          {"refused_nodes", std::move(refused)},
          {"reasons", std::move(reasons)},
          {"remarks", std::move(remarks)}};
}

}  // namespace reprise
