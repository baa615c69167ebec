#include "tools/campaign/engine.h"

#include <algorithm>
#include <sstream>

#include "base/system/private_file.h"
#include "base/system/text_file.h"
#include "base/text/counted.h"
#include "tools/commands.h"

namespace reprise {

Rounds::Rounds(const CampaignFolder& folder) : folder_(folder.path() / "rounds") {
  std::error_code error;
  while (std::filesystem::exists(path(rounds_ + 1), error)) {
    ++rounds_;
    for (auto const shard : shards_of(rounds_)) ++starts_[shard];
  }
}

std::filesystem::path Rounds::path(std::size_t round) const {
  return folder_ / (std::to_string(round) + ".txt");
}

std::vector<std::size_t> Rounds::shards_of(std::size_t round) const {
  std::istringstream lines(contents_of(path(round)));
  std::vector<std::size_t> out;
  for (std::size_t shard = 0; lines >> shard;) out.push_back(shard);
  return out;
}

std::vector<std::size_t> Rounds::startable(const std::vector<std::size_t>& missing,
                                           unsigned most) const {
  std::vector<std::size_t> out;
  std::size_t spent = 0;
  for (auto const shard : missing) {
    auto const found = starts_.find(shard);
    if (found != starts_.end() && found->second >= most) {
      ++spent;
    } else {
      out.push_back(shard);
    }
  }
  if (spent > 0) {
    say_of_campaign(0, counted(spent, "shard") + " failed " + counted(most, "time") +
                           " and will not start again. `reprise campaign status` has the "
                           "reasons; --rounds " +
                           std::to_string(most + 1) + " starts them once more");
  }
  return out;
}

bool Rounds::write(std::size_t round, std::span<const std::size_t> shards) const {
  std::string text;
  for (auto const shard : shards) text += std::to_string(shard) + "\n";
  auto const written = write_private_file(text, path(round));
  if (!written) {
    say_of_campaign(0, path(round).string() + " cannot be written: " + written.error().message());
  }
  return written.has_value();
}

std::size_t Rounds::add(const std::vector<std::size_t>& shards) {
  if (!write(rounds_ + 1, shards)) return 0;
  for (auto const shard : shards) ++starts_[shard];
  return ++rounds_;
}

bool Rounds::extend(std::size_t shard) {
  auto shards = shards_of(rounds_);
  shards.push_back(shard);
  if (!write(rounds_, shards)) return false;
  ++starts_[shard];
  return true;
}

void Rounds::shorten(const std::vector<std::size_t>& shards, std::size_t count) {
  if (count >= shards.size() || !write(rounds_, std::span(shards).first(count))) return;
  for (std::size_t i = count; i < shards.size(); ++i) --starts_[shards[i]];
}

int run_campaign(const CampaignFolder& folder, const EngineOptions& options) {
  auto const lock = CampaignLock::take(folder.path());
  if (!lock) return kExitFailed;
  folder.set_aside(progress_of(folder.plan(), folder.facts()).refused);
  return options.engine == "slurm" ? run_on_slurm(folder, options) : run_here(folder, options);
}

}  // namespace reprise
