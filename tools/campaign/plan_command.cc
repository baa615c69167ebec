#include "tools/campaign/plan_command.h"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/system/text_file.h"
#include "base/text/counted.h"
#include "shaper/profile.h"
#include "tools/campaign/campaign_folder.h"
#include "tools/commands.h"
#include "tools/record/corpus_list.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kUrlListBytesMax = 64 << 20;

/// Paths in the file are relative to it; shards run elsewhere.
std::string absolute_to(const fs::path& file, const std::string& path) {
  std::error_code error;
  auto const whole = fs::path(path).is_absolute() ? fs::path(path) : file.parent_path() / path;
  return fs::weakly_canonical(fs::absolute(whole, error), error).string();
}

/// The same for browsers and for trace files of links. Returns an error as a sentence.
std::optional<std::string> make_conditions_absolute(CampaignFile& campaign, const fs::path& file) {
  std::error_code error;
  auto const folder = fs::weakly_canonical(fs::absolute(file, error).parent_path(), error);
  for (std::string& browser : campaign.browsers) {
    // A symbolic link stays one: some browsers are scripts that look at the name they have.
    if (browser.find('/') != std::string::npos) browser = (folder / browser).string();
  }
  for (std::string& link : campaign.links) {
    auto absolute = absolute_link(link, folder);
    if (!absolute) return absolute.error();
    link = std::move(*absolute);
  }
  for (auto const* const values : {&campaign.browsers, &campaign.links}) {
    if (std::set<std::string>(values->begin(), values->end()).size() < values->size()) {
      return "two of its browsers or links have the same path";
    }
  }
  return std::nullopt;
}

std::expected<std::vector<PlannedPage>, std::string> pages_to_record(CampaignFile& campaign,
                                                                     const fs::path& file) {
  std::string list;
  for (const std::string& url : campaign.urls) list += url + "\n";
  if (!campaign.url_list.empty()) {
    campaign.url_list = absolute_to(file, campaign.url_list);
    auto const text = read_text_file(campaign.url_list, kUrlListBytesMax);
    if (!text) return std::unexpected(campaign.url_list + ": " + text.error().message());
    list += *text;
  }
  auto const parsed = parse_corpus_list(list);
  if (!parsed) return std::unexpected(parsed.error());
  std::vector<PlannedPage> pages;
  for (const CorpusPage& page : *parsed) pages.push_back({.name = page.name, .source = page.url});
  return pages;
}

std::expected<std::vector<PlannedPage>, std::string> archives_of(CampaignFile& campaign,
                                                                 const fs::path& file) {
  std::vector<fs::path> archives;
  for (std::string& given : campaign.archives) {
    given = absolute_to(file, given);
    std::error_code error;
    if (!fs::is_directory(given, error)) {
      if (!fs::exists(given, error)) return std::unexpected(given + " does not exist");
      archives.emplace_back(given);
      continue;
    }
    auto const before = archives.size();
    for (fs::directory_iterator it(given, error), end; !error && it != end; it.increment(error)) {
      if (it->path().extension() == ".reprise") archives.push_back(it->path());
    }
    if (error) return std::unexpected(given + ": " + error.message());
    if (archives.size() == before) {
      return std::unexpected(given + " contains no archive (*.reprise)");
    }
    std::sort(archives.begin() + static_cast<std::ptrdiff_t>(before), archives.end());
  }
  for (CampaignSide& side : campaign.sides) {
    if (side.archives.empty()) continue;
    side.archives = absolute_to(file, side.archives);
    for (const fs::path& archive : archives) {
      std::error_code error;
      auto const other = fs::path(side.archives) / archive.filename();
      if (!fs::exists(other, error)) {
        return std::unexpected("side " + side.name + " has no " + other.string());
      }
    }
  }
  std::vector<PlannedPage> pages;
  for (const fs::path& archive : archives) {
    pages.push_back({.name = archive.stem().string(), .source = archive.string()});
  }
  return pages;
}

}  // namespace

int plan_from_file(const fs::path& file, const fs::path& folder) {
  auto const refuse = [&](const std::string& why) {
    return say_of_campaign(kExitUsage, file.string() + ": " + why);
  };
  auto const text = read_text_file(file, kCampaignBytesMax);
  if (!text) return refuse(text.error().message());
  auto campaign = parse_campaign(*text);
  if (!campaign) return refuse(campaign.error());
  if (auto const fault = make_conditions_absolute(*campaign, file)) return refuse(*fault);
  auto pages = campaign->task == CampaignFile::Task::kRecord ? pages_to_record(*campaign, file)
                                                             : archives_of(*campaign, file);
  if (!pages) return refuse(pages.error());
  auto const plan = plan_campaign(std::move(*campaign), std::move(*pages));
  if (!plan) return refuse(plan.error());
  if (auto const code = CampaignFolder::make(folder, *plan); code != kExitDone) return code;
  double seconds = 0, longest = 0;
  std::size_t loads = 0;
  for (const Shard& shard : plan->shards) {
    seconds += expected_seconds(*plan, shard);
    longest = std::max(longest, expected_seconds(*plan, shard));
    loads += planned_loads(*plan, shard);
  }
  bool const measures = plan->campaign.task == CampaignFile::Task::kLoad;
  bool const records = plan->campaign.task == CampaignFile::Task::kRecord;
  std::printf("%s, %s in %s of at most %s: about %s on one node%s\n",
              counted(plan->pages.size(), records ? "page" : "archive").c_str(),
              measures ? counted(loads, "load").c_str() : "one task each",
              counted(plan->shards.size(), "shard").c_str(), time_text(longest).c_str(),
              time_text(seconds).c_str(), measures ? ", if each archive has one page" : "");
  return kExitDone;
}

}  // namespace reprise
