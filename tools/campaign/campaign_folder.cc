#include "tools/campaign/campaign_folder.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <utility>

#include "base/system/json_file.h"
#include "base/system/last_error.h"
#include "base/system/mapped_file.h"
#include "base/system/private_file.h"
#include "base/system/text_file.h"
#include "base/text/json_fields.h"
#include "base/text/printable.h"
#include "tools/commands.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

constexpr std::uintmax_t kNodeCheckBytesMax = 1 << 20;
/// Most headers are shorter: one read is enough.
constexpr std::size_t kHeaderReadBytes = 8 << 10;
constexpr std::size_t kHeaderBytesMax = 4 << 20;

std::string number_text(std::size_t shard) {
  char text[32];
  std::snprintf(text, sizeof text, "%06zu", shard);
  return text;
}

std::string host_name() {
  char name[256] = "";
  if (::gethostname(name, sizeof name - 1) != 0) return "unknown";
  return name;
}

std::string first_line_of(const fs::path& path) {
  Descriptor const file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return {};
  std::string text;
  while (text.size() < kHeaderBytesMax) {
    auto const before = text.size();
    text.resize(before + kHeaderReadBytes);
    auto const size = ::read(file.get(), text.data() + before, kHeaderReadBytes);
    text.resize(before + (size < 0 ? 0 : static_cast<std::size_t>(size)));
    if (auto const end = text.find('\n', before); end != std::string::npos) {
      return text.substr(0, end);
    }
    if (text.size() == before) break;
  }
  return {};
}

/// The names of a folder's files with this suffix, sorted.
std::vector<fs::path> files_in(const fs::path& folder, std::string_view suffix) {
  std::vector<fs::path> out;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() == suffix) out.push_back(it->path());
  }
  std::ranges::sort(out);
  return out;
}

std::optional<ShardFailure> failure_in(const fs::path& path) {
  auto const value = read_json(path);
  if (!value.is_object()) return std::nullopt;
  auto const& object = value.get_object();
  return ShardFailure{.shard = static_cast<std::size_t>(integer_at(object, "shard")),
                      .node = std::string(text_at(object, "node")),
                      .reason = std::string(text_at(object, "reason")),
                      .detail = std::string(text_at(object, "detail"))};
}

fs::path failure_path(const fs::path& folder, std::size_t shard) {
  return folder / "failures" / (number_text(shard) + ".json");
}

bool kept(const fs::path& path, const Result<void>& written) {
  if (written) return true;
  say_of_campaign(0, path.string() + " cannot be written: " + written.error().message() +
                         ". Free some space, then run `reprise campaign resume`");
  return false;
}

/// By its own name, synced, then renamed.
bool keep_file_at(const fs::path& path, std::string_view text) {
  auto const part = fs::path(path).concat("." + host_name() + "." + std::to_string(::getpid()));
  auto done = write_private_file(text, part);
  if (done) done = sync_file(part);
  std::error_code error;
  if (done) {
    fs::rename(part, path, error);
    if (error) done = fail(error);
  }
  if (!done) {
    std::error_code ignored;
    fs::remove(part, ignored);
  }
  return kept(path, done);
}

/// A path in `folder` that is not taken: that of a node's result.
fs::path free_place(const fs::path& folder, const std::string& node, const fs::path& result) {
  auto const name = node + "-" + result.stem().string();
  auto const suffix = result.extension().string();
  auto place = folder / (name + suffix);
  std::error_code error;
  for (std::size_t number = 2; fs::exists(place, error); ++number) {
    place = folder / (name + "-" + std::to_string(number) + suffix);
  }
  return place;
}

std::string holder_text(::pid_t process) {
  return "process " + std::to_string(process) + " on " + host_name();
}

/// Whether `holder` is a process of this machine that has ended. A shard that it was just starting
/// holds its lock until it runs its own program.
bool has_ended(std::string_view holder) {
  constexpr std::string_view kBefore = "process ";
  if (!holder.starts_with(kBefore)) return false;
  ::pid_t process = 0;
  auto const number = holder.substr(kBefore.size());
  std::from_chars(number.data(), number.data() + number.size(), process);
  return process > 0 && holder == holder_text(process) && ::kill(process, 0) != 0 && errno == ESRCH;
}

bool take_lock(int file, const fs::path& path, const std::function<void()>& pause) {
  for (int pauses = 0; ::flock(file, LOCK_EX | LOCK_NB) != 0; ++pauses) {
    if (pauses >= CampaignLock::kPausesMax || !has_ended(contents_of(path))) return false;
    pause();
  }
  return true;
}

}  // namespace

int say_of_campaign(int exit_code, const std::string& text) {
  std::fprintf(stderr, "reprise: campaign: %s\n", printable(text).c_str());
  return exit_code;
}

std::string node_name(const std::string& given) {
  if (!given.empty()) return given;
  auto const* const of_slurm = std::getenv("SLURMD_NODENAME");
  return of_slurm != nullptr && *of_slurm != '\0' ? of_slurm : host_name();
}

bool shows_success(const ShardHeader& result, const std::string& node) {
  return result.node == node && result.loads > result.failed;
}

std::expected<CampaignFolder, int> CampaignFolder::open(const fs::path& folder) {
  auto const path = folder / "plan.json";
  auto const text = read_text_file(path, Plan::kBytesMax);
  if (!text) {
    return std::unexpected(
        say_of_campaign(kExitFailed, path.string() + " cannot be read: " + text.error().message() +
                                         ". Make it with `reprise campaign plan FILE -o DIR`"));
  }
  auto plan = read_plan(*text);
  if (!plan) {
    return std::unexpected(
        say_of_campaign(kExitFailed, path.string() + " is not a plan: " + plan.error()));
  }
  CampaignFolder out;
  std::error_code error;
  out.path_ = fs::absolute(folder, error);
  out.plan_ = std::move(*plan);
  out.digest_ = plan_digest(*text);
  return out;
}

int CampaignFolder::make(const fs::path& folder, const Plan& plan) {
  auto const path = folder / "plan.json";
  auto const text = plan_text(plan);
  std::error_code error;
  if (fs::exists(path, error)) {
    if (contents_of(path) == text) return kExitDone;
    return say_of_campaign(kExitFailed, folder.string() +
                                            " already has another plan: use "
                                            "another folder");
  }
  for (auto const* const each : {"results", "failures", "nodes", "rounds", "logs"}) {
    fs::create_directories(folder / each, error);
    if (error) {
      return say_of_campaign(kExitFailed, (folder / each).string() + ": " + error.message());
    }
  }
  return keep_file_at(path, text) ? kExitDone : kExitFailed;
}

bool CampaignFolder::is_still(const std::string& digest) const {
  if (digest.empty() || digest == digest_) return true;
  say_of_campaign(0, "the plan in " + path_.string() + " is " + digest_ + ", and " + digest +
                         " was submitted: it has changed since. Put the old plan.json back, or "
                         "cancel these jobs and plan into another folder");
  return false;
}

fs::path CampaignFolder::result_path(std::size_t shard) const {
  auto const place = path_ / "results" / number_text(shard);
  if (plan_.campaign.task == CampaignFile::Task::kRecord) return place / "shard.json";
  return fs::path(place).concat(".json");
}

std::optional<ShardHeader> CampaignFolder::result_of(std::size_t shard) const {
  auto const line = first_line_of(result_path(shard));
  if (line.empty()) return std::nullopt;
  auto header = read_header(line);
  if (!header) return std::nullopt;
  return std::move(*header);
}

bool CampaignFolder::is_done(std::size_t shard) const {
  auto const header = result_of(shard);
  return header && header->plan == digest_ && header->shard == shard;
}

std::optional<ShardFailure> CampaignFolder::failure_of(std::size_t shard) const {
  return failure_in(failure_path(path_, shard));
}

std::vector<NodeCheck> CampaignFolder::node_checks() const {
  std::vector<NodeCheck> out;
  for (const fs::path& path : files_in(path_ / "nodes", ".json")) {
    auto const text = read_text_file(path, kNodeCheckBytesMax);
    if (!text) continue;
    auto check = read_node_check(*text);
    if (check && check->plan == digest_) out.push_back(std::move(*check));
  }
  return out;
}

CampaignFacts CampaignFolder::facts() const {
  CampaignFacts facts;
  for (std::size_t shard = 1; shard <= plan_.shards.size(); ++shard) {
    auto header = result_of(shard);
    if (!header) continue;
    if (header->plan == digest_ && header->shard == shard) {
      facts.results.push_back(std::move(*header));
    } else {
      ++facts.foreign;
    }
  }
  for (const fs::path& path : files_in(path_ / "failures", ".json")) {
    if (auto failure = failure_in(path)) facts.failures.push_back(std::move(*failure));
  }
  facts.nodes = node_checks();
  return facts;
}

bool CampaignFolder::has_success_of(const std::string& node) const {
  auto const all = facts();
  return std::ranges::any_of(all.results,
                             [&](const ShardHeader& each) { return shows_success(each, node); });
}

bool CampaignFolder::keep_result(std::size_t shard, std::string_view text) const {
  return keep_file_at(result_path(shard), text);
}

bool CampaignFolder::keep_node_check(NodeCheck check) const {
  auto const path = path_ / "nodes" / (check.node + ".json");
  auto const text = [&] { return json::serialize(to_json(check)) + "\n"; };
  if (!keep_file_at(path, text())) return false;
  // The file's time is of the machine that has the folder.
  std::error_code error;
  auto const stamped = fs::last_write_time(path, error);
  if (error) return true;
  auto const ahead = fs::file_time_type::clock::now() - stamped;
  check.clock_ahead_s = std::chrono::duration<double>(ahead).count();
  return keep_file_at(path, text());
}

void CampaignFolder::keep_failure(const ShardFailure& failure) const {
  json::object out{{"shard", failure.shard},
                   {"node", as_utf8(failure.node)},
                   {"reason", as_utf8(failure.reason)}};
  if (!failure.detail.empty()) out["detail"] = as_utf8(failure.detail);
  static_cast<void>(
      write_private_file(json::serialize(out) + "\n", failure_path(path_, failure.shard)));
  say_of_campaign(0, "shard " + std::to_string(failure.shard) + " on node " + failure.node + ": " +
                         failure.text());
}

bool CampaignFolder::set_aside(const std::vector<RefusedNode>& refused) const {
  bool good = true;
  for (std::size_t shard = 1; !refused.empty() && shard <= plan_.shards.size(); ++shard) {
    good = set_aside(shard, refused) && good;
  }
  return good;
}

bool CampaignFolder::set_aside(std::size_t shard, const std::vector<RefusedNode>& refused) const {
  auto const header = refused.empty() ? std::nullopt : result_of(shard);
  if (!header || std::ranges::find(refused, header->node, &RefusedNode::node) == refused.end()) {
    return true;
  }
  bool const records = plan_.campaign.task == CampaignFile::Task::kRecord;
  auto const from = records ? result_path(shard).parent_path() : result_path(shard);
  auto const folder = path_ / "set-aside";
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error) fs::rename(from, free_place(folder, header->node, from), error);
  // Another process may have moved it.
  if (!error || error == std::errc::no_such_file_or_directory) return true;
  say_of_campaign(0, from.string() + " is of the refused node " + header->node +
                         " and cannot be moved to " + folder.string() + ": " + error.message() +
                         ". Remove it, then run `reprise campaign resume`");
  return false;
}

void CampaignLock::pause_briefly() {
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

std::optional<CampaignLock> CampaignLock::take(const fs::path& folder,
                                               const std::function<void()>& pause) {
  auto const path = folder / "lock";
  Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!file.is_open()) {
    say_of_campaign(0, path.string() + ": " + last_system_error().message());
    return std::nullopt;
  }
  if (!take_lock(file.get(), path, pause)) {
    auto const holder = contents_of(path);
    say_of_campaign(0, "another `reprise campaign` works on " + folder.string() +
                           (holder.empty() ? "" : " (" + holder + ")") +
                           ": wait until it ends, or end it first");
    return std::nullopt;
  }
  auto const text = holder_text(::getpid());
  if (::ftruncate(file.get(), 0) == 0) {
    [[maybe_unused]] auto const written = ::write(file.get(), text.data(), text.size());
  }
  return CampaignLock(std::move(file));
}

}  // namespace reprise
