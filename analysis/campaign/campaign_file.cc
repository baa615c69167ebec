#include "analysis/campaign/campaign_file.h"

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <cmath>
#include <set>
#include <span>

#include "base/text/printable.h"
#include "pageload/results/fields.h"

namespace json = boost::json;

namespace reprise {
namespace {

constexpr std::string_view kCampaignSchema = "reprise-campaign/1";
constexpr std::array<std::string_view, 18> kMembers = {
    "schema",       "name",      "task",          "archives",     "urls",           "url_list",
    "browsers",     "protocols", "links",         "caches",       "sides",          "loads",
    "budget_hours", "seed",      "shard_minutes", "load_seconds", "advise_minutes", "flags"};
constexpr std::array<std::string_view, 3> kSideMembers = {"name", "flags", "archives"};
constexpr unsigned kLoadsMax = 10'000;

/// Empty, or which member is unknown.
std::string stranger_in(const json::object& object, std::span<const std::string_view> known) {
  for (auto const& member : object) {
    std::string_view const name = member.key();
    if (std::ranges::find(known, name) == known.end()) return std::string(name.substr(0, 40));
  }
  return {};
}

/// Whether it can be the name of a folder that nobody has to quote.
bool is_plain_name(std::string_view name) {
  auto const plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  };
  return !name.empty() && name.size() <= 80 && name[0] != '.' && name[0] != '-' &&
         std::ranges::all_of(name, plain);
}

json::array texts_to_json(const std::vector<std::string>& texts) {
  json::array out;
  for (const std::string& text : texts) out.emplace_back(as_utf8(text));
  return out;
}

/// The values of one dimension.
std::vector<std::string> values_of(Fields& from, std::string_view name, const char* usual,
                                   std::initializer_list<std::string_view> allowed = {}) {
  auto values = from.texts(name);
  std::set<std::string> seen;
  for (const std::string& value : values) {
    if (value.empty() || !seen.insert(value).second) from.wrong(name, "must differ, and have text");
    if (allowed.size() > 0 && std::ranges::find(allowed, value) == allowed.end()) {
      from.wrong(name, "cannot be '" + printable(value.substr(0, 40)) + "'");
    }
  }
  return values.empty() ? std::vector<std::string>{usual} : values;
}

double in_range(Fields& from, std::string_view name, double usual, double low, double high) {
  auto const value = from.number(name).value_or(usual);
  if (value < low || value > high) {
    from.wrong(name, "must be from " + std::to_string(std::lround(low)) + " to " +
                         std::to_string(std::lround(high)));
  }
  return value;
}

unsigned whole_in_range(Fields& from, std::string_view name, unsigned usual, unsigned low,
                        unsigned high) {
  in_range(from, name, usual, low, high);
  return from.has(name) ? static_cast<unsigned>(from.whole(name)) : usual;
}

/// Options with a member of their own would add to its values. Of those, `record` only has its
/// browser as a member.
void require_no_members(Fields& from, const std::vector<std::string>& flags, bool records = false) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kMembersOf = {
      {{"--browser", "browsers"},
       {"--protocol", "protocols"},
       {"--link", "links"},
       {"--cache", "caches"}}};
  for (const std::string& flag : flags) {
    if (flag == "--") {
      from.wrong("flags",
                 "cannot contain --, which passes all later words to the browser: use "
                 "--chromium-flag");
    }
    for (auto const& [option, member] : kMembersOf) {
      if (flag.substr(0, flag.find('=')) != option || (records && option != "--browser")) continue;
      from.wrong("flags", "cannot have " + std::string(option) + ": use the member " +
                              std::string(member) + " of the campaign");
    }
  }
}

CampaignSide side_of(Fields from) {
  CampaignSide side{
      .name = from.text("name"), .flags = from.texts("flags"), .archives = from.text("archives")};
  if (!is_plain_name(side.name)) {
    from.wrong("name", "must be letters, digits, '.', '_' and '-' (at most 80)");
  }
  if (auto const unknown = stranger_in(from.object(), kSideMembers); !unknown.empty()) {
    from.wrong(unknown, "is not a member of a side");
  }
  require_no_members(from, side.flags);
  return side;
}

void read_task(Fields& from, CampaignFile& campaign) {
  bool const has_urls = !campaign.urls.empty() || !campaign.url_list.empty();
  auto const task = from.text("task");
  campaign.task = task == "record" || (task.empty() && has_urls) ? CampaignFile::Task::kRecord
                  : task == "advise"                             ? CampaignFile::Task::kAdvise
                                                                 : CampaignFile::Task::kLoad;
  if (!task.empty() && task != to_string(campaign.task)) {
    return from.wrong("task", "must be load, record or advise");
  }
  bool const records = campaign.task == CampaignFile::Task::kRecord;
  if (records && !has_urls) return from.wrong("urls", "must name the pages to record");
  if (!records && has_urls) {
    return from.wrong("urls", "are for the task record; other tasks need archives");
  }
  if (!records && campaign.archives.empty()) {
    return from.wrong("archives", "must name archives or folders");
  }
  if (records && !campaign.archives.empty()) {
    from.wrong("archives", "cannot be used with the task record");
  }
}

void require_one_configuration(Fields& from, const CampaignFile& campaign) {
  auto const require_one = [&](std::string_view name, std::size_t values) {
    if (values > 1) from.wrong(name, "must be one: the task advise has one configuration");
  };
  require_one("browsers", campaign.browsers.size());
  require_one("protocols", campaign.protocols.size());
  require_one("links", campaign.links.size());
  require_one("caches", campaign.caches.size());
  require_one("sides", campaign.sides.size());
}

/// What `record` does not read. A plan has each with its default.
void require_what_record_reads(Fields& from, const CampaignFile& campaign) {
  if (campaign.browsers.size() > 1) {
    from.wrong("browsers", "must be one: the task record opens each page in one browser");
  }
  auto const require_default = [&](std::string_view name, bool is_default) {
    if (is_default) return;
    from.wrong(name,
               "cannot be used with the task record: give options of `reprise record` as flags");
  };
  using Texts = std::vector<std::string>;
  require_default("protocols", campaign.protocols == Texts{"recorded"});
  require_default("links", campaign.links == Texts{"none"});
  require_default("caches", campaign.caches == Texts{"cold"});
  const CampaignSide& side = campaign.sides.front();
  require_default("sides",
                  campaign.sides.size() == 1 && side.flags.empty() && side.archives.empty());
}

CampaignFile read_campaign(Fields from) {
  CampaignFile campaign;
  if (from.text("schema") != kCampaignSchema) {
    from.wrong("schema", "must be \"" + std::string(kCampaignSchema) + "\"");
  }
  if (auto const unknown = stranger_in(from.object(), kMembers); !unknown.empty()) {
    from.wrong(unknown, "is not a member of a campaign");
  }
  campaign.name = from.text("name");
  if (!is_plain_name(campaign.name)) {
    from.wrong("name", "must be letters, digits, '.', '_' and '-' (at most 80)");
  }
  campaign.archives = from.texts("archives");
  campaign.urls = from.texts("urls");
  campaign.url_list = from.text("url_list");
  read_task(from, campaign);
  campaign.browsers = values_of(from, "browsers", "chromium");
  campaign.protocols =
      values_of(from, "protocols", "recorded", {"recorded", "h1", "h2", "h3", "h3-known"});
  campaign.links = values_of(from, "links", "none");
  campaign.caches = values_of(from, "caches", "cold", {"cold", "warm"});
  std::set<std::string> names;
  from.each("sides", kCampaignSidesMax, [&](Fields each) {
    campaign.sides.push_back(side_of(each));
    if (!names.insert(campaign.sides.back().name).second) each.wrong("name", "must be unique");
  });
  if (campaign.sides.empty()) campaign.sides.push_back({.name = "A", .flags = {}, .archives = {}});
  if (campaign.task == CampaignFile::Task::kAdvise) require_one_configuration(from, campaign);
  if (campaign.task == CampaignFile::Task::kRecord) require_what_record_reads(from, campaign);
  campaign.loads = whole_in_range(from, "loads", 20, 1, kLoadsMax);
  campaign.budget_hours = in_range(from, "budget_hours", 0, 0, 1e6);
  if (campaign.budget_hours > 0 && campaign.task != CampaignFile::Task::kLoad) {
    from.wrong("budget_hours", "cannot be used with the task " +
                                   std::string(to_string(campaign.task)) +
                                   ": it is for the task load");
  }
  if (from.has("loads") && campaign.budget_hours > 0) {
    from.wrong("budget_hours", "cannot be used with loads: give one of them");
  }
  campaign.seed = from.has("seed") ? from.whole("seed") : 1;
  campaign.shard_minutes = in_range(from, "shard_minutes", 5, 1, 10);
  campaign.load_seconds = in_range(from, "load_seconds", 8, 1, 600);
  campaign.advise_minutes = in_range(from, "advise_minutes", 5, 1, 60);
  campaign.flags = from.texts("flags");
  require_no_members(from, campaign.flags, campaign.task == CampaignFile::Task::kRecord);
  return campaign;
}

}  // namespace

std::string_view to_string(CampaignFile::Task task) {
  return task == CampaignFile::Task::kLoad     ? "load"
         : task == CampaignFile::Task::kRecord ? "record"
                                               : "advise";
}

std::expected<CampaignFile, std::string> campaign_of(const json::object& object) {
  std::string error;
  auto campaign = read_campaign(Fields(object, "", error));
  if (!error.empty()) return std::unexpected(error);
  return campaign;
}

std::expected<CampaignFile, std::string> parse_campaign(std::string_view text) {
  boost::system::error_code malformed;
  auto const parsed = json::parse(text, malformed);
  if (malformed) return std::unexpected("it is not JSON: " + malformed.message());
  if (!parsed.is_object()) return std::unexpected("it is not a JSON object");
  return campaign_of(parsed.get_object());
}

json::object to_json(const CampaignFile& campaign) {
  json::array sides;
  for (const CampaignSide& side : campaign.sides) {
    sides.push_back({{"name", side.name},
                     {"flags", texts_to_json(side.flags)},
                     {"archives", as_utf8(side.archives)}});
  }
  json::object out{{"schema", kCampaignSchema},
                   {"name", campaign.name},
                   {"task", to_string(campaign.task)},
                   {"archives", texts_to_json(campaign.archives)},
                   {"urls", texts_to_json(campaign.urls)},
                   {"url_list", as_utf8(campaign.url_list)},
                   {"browsers", texts_to_json(campaign.browsers)},
                   {"protocols", texts_to_json(campaign.protocols)},
                   {"links", texts_to_json(campaign.links)},
                   {"caches", texts_to_json(campaign.caches)},
                   {"sides", std::move(sides)}};
  if (campaign.budget_hours > 0) {
    out["budget_hours"] = campaign.budget_hours;
  } else {
    out["loads"] = campaign.loads;
  }
  out["seed"] = campaign.seed;
  out["shard_minutes"] = campaign.shard_minutes;
  out["load_seconds"] = campaign.load_seconds;
  out["advise_minutes"] = campaign.advise_minutes;
  out["flags"] = texts_to_json(campaign.flags);
  return out;
}

}  // namespace reprise
