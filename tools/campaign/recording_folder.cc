#include "tools/campaign/recording_folder.h"

#include <stdlib.h>
#include <unistd.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <string>
#include <string_view>
#include <system_error>

#include "base/system/json_file.h"
#include "base/system/last_error.h"
#include "base/system/mapped_file.h"
#include "base/system/private_file.h"
#include "base/text/json_fields.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

constexpr std::string_view kSummaryName = "corpus.json";

/// fsync(2) on all in a folder, and on the folder: a rename after it finds them complete.
Result<void> sync_all_in(const fs::path& folder) {
  std::error_code error;
  fs::recursive_directory_iterator it(folder, error), end;
  for (; !error && it != end; it.increment(error)) {
    std::error_code unknown;
    bool const is_kept = it->is_regular_file(unknown) || it->is_directory(unknown);
    if (!is_kept) continue;
    if (auto const done = sync_file(it->path()); !done) return done;
  }
  if (error) return fail(error);
  return sync_file(folder);
}

/// The pages of corpus.json whose archives are in the folder.
json::array recorded_pages_in(const fs::path& folder) {
  auto const corpus = read_json(folder / kSummaryName);
  json::array pages;
  if (!corpus.is_object()) return pages;
  for (const json::value& each : array_at(corpus.get_object(), "pages")) {
    auto const archive = each.is_object() ? text_at(each.get_object(), "archive") : "";
    std::error_code unknown;
    if (!archive.empty() && fs::is_regular_file(folder / archive, unknown)) pages.push_back(each);
  }
  return pages;
}

/// Takes the pages without an archive out of the corpus.json of an attempt that has ended: what
/// they showed does not count for the next one, which may end before it reaches them. Errors: as
/// write_private_file().
Result<void> forget_failures_in(const fs::path& folder) {
  auto corpus = read_json(folder / kSummaryName);
  if (!corpus.is_object()) return {};
  corpus.get_object()["pages"] = recorded_pages_in(folder);
  return write_private_file(json::serialize(corpus) + "\n", folder / kSummaryName);
}

}  // namespace

RecordingFolder::RecordingFolder(const CampaignFolder& campaign, std::size_t shard,
                                 const std::string& node)
    : campaign_(campaign), shard_(shard), place_(campaign.result_path(shard).parent_path()) {
  path_ = fs::path(place_).concat("." + node + "." + std::to_string(::getpid()));
  left_ = campaign.path() / "unfinished" / (place_.filename().string() + "-" + campaign.digest());
}

RecordingFolder::~RecordingFolder() {
  if (!recorded_pages_in(path_).empty() && !campaign_.is_done(shard_)) leave();
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

Result<void> RecordingFolder::make() {
  std::error_code error;
  fs::remove_all(path_, error);
  fs::rename(left_, path_, error);
  if (!error) return forget_failures_in(path_);
  fs::create_directories(path_, error);
  if (error) return fail(error);
  return {};
}

Result<void> RecordingFolder::put() const {
  if (auto const synced = sync_all_in(path_); !synced) return synced;
  std::error_code error;
  fs::rename(path_, place_, error);
  if (!error || campaign_.is_done(shard_)) return {};
  if (error != std::errc::directory_not_empty && error != std::errc::file_exists) {
    return fail(error);
  }
  auto const folder = campaign_.path() / "set-aside";
  fs::create_directories(folder, error);
  if (error) return fail(error);
  auto aside = (folder / (place_.filename().string() + "-XXXXXX")).string();
  if (::mkdtemp(aside.data()) == nullptr) return fail(last_system_error());
  fs::rename(place_, aside, error);
  if (error) return fail(error);
  fs::rename(path_, place_, error);
  if (error && !campaign_.is_done(shard_)) return fail(error);
  say_of_campaign(0, place_.string() + " was no result of this shard: it is in " + aside);
  return {};
}

void RecordingFolder::leave() const {
  std::error_code ignored;
  fs::create_directories(left_.parent_path(), ignored);
  fs::remove_all(left_, ignored);  // of another attempt at the same time
  fs::rename(path_, left_, ignored);
}

}  // namespace reprise
