#pragma once

// A campaign as its user writes it: what is recorded, loaded or advised on, under which conditions,
// and how often (docs/campaigns.md, docs/campaign.schema.json). Pure; the text is untrusted.

#include <boost/json/object.hpp>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace reprise {

/// One side of a comparison. All sides of a page are loaded on the same machine, in turn.
struct CampaignSide {
  std::string name;                ///< [A-Za-z0-9._-], a folder of the result set
  std::vector<std::string> flags;  ///< more arguments of `reprise load`: "--what-if", ...
  /// The folder with this side's archives, by the same file names; empty: those of the campaign.
  std::string archives;
};

struct CampaignFile {
  enum class Task { kLoad, kRecord, kAdvise };

  std::string name;
  Task task = Task::kLoad;
  std::vector<std::string> archives;  ///< files and folders
  std::vector<std::string> urls;
  std::string url_list;  ///< a file with one URL per line
  std::vector<std::string> browsers, protocols, links, caches;
  std::vector<CampaignSide> sides;  ///< the first one is the one to compare with
  unsigned loads = 20;              ///< of each cell and side
  double budget_hours = 0;          ///< of all machines together, instead of `loads`; 0: none
  std::uint64_t seed = 1;
  double shard_minutes = 5;        ///< from 1 to 10
  double load_seconds = 8;         ///< one load with its browser and replay; of a page to record
  double advise_minutes = 5;       ///< for one page
  std::vector<std::string> flags;  ///< more arguments of `reprise load` or `record`

  /// Loads of one page in one round: every cell on every side.
  std::size_t cells() const {
    return browsers.size() * protocols.size() * links.size() * caches.size() * sides.size();
  }
};

/// Limits: the text, and the number of sides.
inline constexpr std::size_t kCampaignBytesMax = 16 << 20;
inline constexpr std::size_t kCampaignSidesMax = 16;

/// Errors: a sentence that names the member. An unknown member is an error, since a misspelt one
/// would change a month of loads.
std::expected<CampaignFile, std::string> parse_campaign(std::string_view text);
/// From JSON with all members or less.
std::expected<CampaignFile, std::string> campaign_of(const boost::json::object& object);
/// With every member.
boost::json::object to_json(const CampaignFile& campaign);

std::string_view to_string(CampaignFile::Task task);

}  // namespace reprise
