#pragma once

// Campaigns and plans for tests.

#include <string>
#include <utility>
#include <vector>

#include "analysis/campaign/plan.h"

namespace reprise {

/// A campaign over the archive "a.reprise" with more members: `"loads": 3, ...`.
inline CampaignFile campaign_with(const std::string& members) {
  return parse_campaign(
             R"({"schema":"reprise-campaign/1","name":"shops","archives":["a.reprise"])" +
             (members.empty() ? "" : "," + members) + "}")
      .value();
}

inline std::vector<PlannedPage> pages(std::size_t count) {
  std::vector<PlannedPage> out;
  for (std::size_t page = 0; page < count; ++page) {
    auto const name = "page" + std::to_string(page);
    out.push_back({.name = name, .source = "/corpus/" + name + ".reprise"});
  }
  return out;
}

inline Plan plan_with(const std::string& members, std::size_t page_count) {
  return plan_campaign(campaign_with(members), pages(page_count)).value();
}

}  // namespace reprise
