#include "tools/campaign/start_url.h"

#include <filesystem>
#include <utility>
#include <vector>

#include "tools/experiment/experiment_side.h"
#include "tools/load/load_options.h"
#include "tools/load/load_start.h"

namespace reprise {

std::string start_url_of(const Plan& plan, std::size_t page) {
  namespace fs = std::filesystem;
  auto const& flags = plan.campaign.flags;
  fs::path archive = plan.pages[page].source;
  if (auto const& folder = plan.campaign.sides.front().archives; !folder.empty()) {
    archive = fs::path(folder) / archive.filename();
  }
  std::vector<std::string> words{archive.string()};
  words.insert(words.end(), flags.begin(), flags.end());
  LoadOptions options;
  if (parse_load_words(std::move(words), options)) return {};
  auto const urls = pages_to_load(options, archive);
  return urls && !urls->empty() ? urls->front() : std::string();
}

}  // namespace reprise
