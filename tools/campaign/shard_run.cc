#include "tools/campaign/shard_run.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json/parse.hpp>
#include <chrono>
#include <cstdlib>
#include <expected>
#include <filesystem>
#include <random>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/system/execute.h"
#include "base/system/guarded_process.h"
#include "base/system/json_file.h"
#include "base/system/private_file.h"
#include "base/system/private_folder.h"
#include "base/system/text_file.h"
#include "base/text/printable.h"
#include "pageload/results/result_file.h"
#include "tools/campaign/error_relay.h"
#include "tools/campaign/node_check.h"
#include "tools/campaign/recorded_pages.h"
#include "tools/campaign/recording_folder.h"
#include "tools/commands.h"
#include "tools/experiment/experiment.h"
#include "tools/process/interruption.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using Clock = std::chrono::steady_clock;

/// A sentence with an exit code.
struct ShardFault {
  int exit_code = kExitFailed;
  std::string text;
  /// What happened in this attempt, where another one that fails for the same reason can say it
  /// differently; empty: the text.
  std::string detail = {};
};

/// This program with other arguments, to its end. `errors`: null, or takes what it writes to
/// standard error.
int run_self(std::vector<std::string> arguments, ErrorRelay* errors = nullptr) {
  auto process = GuardedProcess::start({.program = "/proc/self/exe",
                                        .arguments = std::move(arguments),
                                        .environment = environment_with({}),
                                        .error_file = errors ? errors->path() : fs::path()});
  if (!process) return kExitFailed;
  auto const status = (*process)->wait_until(Clock::now() + std::chrono::hours(24), [&] {
    if (errors != nullptr) errors->pass_on();
    return Interruption::was_asked();
  });
  if (errors != nullptr) errors->pass_on();
  if (!status) return Interruption::was_asked() ? Interruption::exit_code() : int{kExitFailed};
  return exit_code_of(*status);
}

class ShardRun {
 public:
  ShardRun(const CampaignFolder& folder, std::size_t number, std::string node)
      : folder_(folder), plan_(folder.plan()), shard_(plan_.shards[number - 1]) {
    header_ = {.plan = folder.digest(),
               .shard = number,
               .node = std::move(node),
               .reprise = REPRISE_VERSION};
  }

  std::optional<ShardFault> run() {
    auto const began = Clock::now();
    if (plan_.campaign.task == CampaignFile::Task::kRecord) return record(began);
    bool const advises = plan_.campaign.task == CampaignFile::Task::kAdvise;
    std::optional<ShardFault> of_pages;
    for (const ShardPart& part : shard_.parts) {
      auto fault = advises ? advise(part) : load(part);
      if (!fault) continue;
      if (Interruption::was_asked() || fault->exit_code == kExitShardAgain) return fault;
      auto const loads = planned_loads(plan_, Shard{.parts = {part}});
      header_.loads += loads;
      header_.failed += loads;
      add_failure({.page = part.page,
                   .name = {},
                   .side = {},
                   .url = {},
                   .loads = loads,
                   .why = fault->detail.empty() ? fault->text : fault->detail});
      if (of_pages) fault->text = of_pages->text + "; " + fault->text;
      if (of_pages && !of_pages->detail.empty()) {
        fault->detail = of_pages->detail + (fault->detail.empty() ? "" : "; ") + fault->detail;
      }
      of_pages = std::move(fault);
    }
    if (of_pages && !is_final(*of_pages, header_.records > 0)) return of_pages;
    finish(began);
    if (folder_.keep_result(header_.shard, header_line(header_) + records_)) return std::nullopt;
    return ShardFault{kExitShardAgain, "the result could not be written"};
  }

 private:
  void finish(Clock::time_point began) {
    header_.seconds = std::chrono::duration<double>(Clock::now() - began).count();
    header_.finished_unix_ms = std::chrono::duration<double, std::milli>(
                                   std::chrono::system_clock::now().time_since_epoch())
                                   .count();
  }

  /// The last attempt's failure, if this one is the same.
  std::optional<ShardFailure> same_failure(const ShardFault& fault) const {
    auto last = folder_.failure_of(header_.shard);
    if (last && last->reason != as_utf8(fault.text)) last.reset();
    return last;
  }

  /// Whether only these pages are at fault, which another attempt would not change: the last one
  /// failed the same way, and other pages succeeded. What a machine does once in a while is tried
  /// again.
  bool is_final(const ShardFault& fault, bool others_succeeded) const {
    if (!others_succeeded || !same_failure(fault)) return false;
    say_of_campaign(0, fault.text + "; the results of the shard's other pages are kept");
    return true;
  }

  /// The same if all pages fail, which a machine without a network can cause: a second machine has
  /// to agree, if the campaign has one and nothing else shows that this one works.
  bool is_final_for_all(const ShardFault& fault) const {
    auto const last = same_failure(fault);
    if (!last) return false;
    auto const checks = folder_.node_checks();
    bool const is_alone = std::ranges::none_of(checks, [&](const NodeCheck& each) {
      return each.node != header_.node && each.problems.empty();
    });
    bool const needs_another = last->node == header_.node && !is_alone;
    if (needs_another && !folder_.has_success_of(header_.node)) return false;
    say_of_campaign(0, fault.text + ", as in the last attempt: this is kept as the result");
    return true;
  }

  void add_failure(PageFailure failure) {
    if (header_.failures.size() == ShardHeader::kFailuresMax) return;
    header_.failures.push_back(std::move(failure));
  }

  void add(ShardRecord record) {
    ++header_.records;
    records_ += record_lines(record);
  }

  std::vector<std::string> words_of(const ShardPart& part, const CampaignSide& side) const {
    const PlannedPage& page = plan_.pages[part.page];
    auto const archive = side.archives.empty()
                             ? fs::path(page.source)
                             : fs::path(side.archives) / fs::path(page.source).filename();
    std::vector<std::string> words{archive.string()};
    auto const add_all = [&](const char* flag, const std::vector<std::string>& values) {
      for (const std::string& value : values) words.insert(words.end(), {flag, value});
    };
    add_all("--browser", part.browsers);
    add_all("--protocol", part.protocols);
    add_all("--link", part.links);
    add_all("--cache", part.caches);
    words.insert(words.end(), plan_.campaign.flags.begin(), plan_.campaign.flags.end());
    words.insert(words.end(), side.flags.begin(), side.flags.end());
    return words;
  }

  /// Of what flags write about each load: all shards can have the same folder for it.
  std::string file_name_of(const ShardPart& part, const CampaignSide& side) const {
    auto const place = std::to_string(&part - shard_.parts.data() + 1);
    return plan_.pages[part.page].name + "-" + std::to_string(header_.shard) + "." + place + "-" +
           side.name;
  }

  std::optional<ShardFault> load(const ShardPart& part) {
    std::vector<ExperimentSide> sides;
    auto const seed = seed_of(plan_, part);
    for (const CampaignSide& each : plan_.campaign.sides) {
      auto side = ExperimentSide::of_words(words_of(part, each));
      if (!side) return ShardFault{side.error().exit_code, side.error().text};
      side->result().seed = seed;
      side->name_files(file_name_of(part, each));
      sides.push_back(std::move(*side));
    }
    Experiment experiment(std::move(sides), 0);
    std::vector<std::size_t> order(experiment.sides());
    for (std::size_t side = 0; side < order.size(); ++side) order[side] = side;
    std::mt19937_64 random(seed);
    for (std::size_t run = 0; run <= part.runs; ++run) {
      for (std::size_t left = order.size(); left > 1; --left) {
        std::swap(order[left - 1], order[random() % left]);
      }
      for (auto const side : order) {
        if (experiment.load(side, run)) continue;
        if (Interruption::was_asked()) {
          return ShardFault{Interruption::exit_code(), "it was interrupted"};
        }
        auto const& loads = experiment.side(side).result().loads;
        auto why = last_message(experiment.side(side).messages());
        if (why.empty() && !loads.empty()) why = loads.back().page.failure;
        return ShardFault{experiment.exit_code(),
                          "the page '" + plan_.pages[part.page].name +
                              "' cannot be loaded; the log of this shard has the reason",
                          std::move(why)};
      }
    }
    for (std::size_t side = 0; side < experiment.sides(); ++side) {
      const LoadResult& result = experiment.side(side).result();
      for (const LoadResult::Load& load : result.loads) {
        if (load.warm_up) continue;
        ++header_.loads;
        if (load.page.outcome != LoadOutcome::kLoaded) ++header_.failed;
      }
      auto const named = experiment.sides() > 1 ? plan_.campaign.sides[side].name : std::string();
      for (PageFailure& each : failures_of(result, part.page, named)) {
        add_failure(std::move(each));
      }
      add({.page = part.page,
           .first_run = part.first_run,
           .side = plan_.campaign.sides[side].name,
           .result = result});
    }
    return std::nullopt;
  }

  std::optional<ShardFault> advise(const ShardPart& part) {
    auto const folder = PrivateFolder::make("reprise-campaign-");
    if (!folder) return ShardFault{kExitShardAgain, folder.error().message()};
    auto const seconds = std::lround(plan_.campaign.advise_minutes * 60);
    auto words = words_of(part, plan_.campaign.sides.front());
    words.insert(words.begin(), "advise");
    words.insert(words.end(), {"--budget", std::to_string(seconds) + "s", "--seed",
                               std::to_string(seed_of(plan_, part)), "--no-pictures", "-o",
                               folder->path().string()});
    ErrorRelay errors(folder->path() / "errors.txt");
    auto const code = run_self(std::move(words), &errors);
    if (code != kExitDone) {
      return ShardFault{code,
                        "`reprise advise` of the page '" + plan_.pages[part.page].name +
                            "' failed; the log of this shard has the reason",
                        errors.last_message()};
    }
    auto const advice = read_json(folder->path() / "advice.json");
    if (!advice.is_object()) return ShardFault{kExitFailed, "advise wrote no advice.json"};
    auto loads = read_result_file(folder->path() / "loads-0.json");
    if (!loads) return ShardFault{kExitFailed, "loads-0.json of advise: " + loads.error()};
    ++header_.loads;
    add({.page = part.page,
         .side = plan_.campaign.sides.front().name,
         .advice = advice.get_object(),
         .result = std::move(*loads)});
    return std::nullopt;
  }

  /// The archives' folder is the result: it appears by rename, too.
  std::optional<ShardFault> record(Clock::time_point began) {
    RecordingFolder folder(folder_, header_.shard, header_.node);
    if (auto fault = record_into(folder)) return fault;
    finish(began);
    auto done = write_private_file(header_line(header_), folder.path() / "shard.json");
    if (done) done = folder.put();
    if (done) return std::nullopt;
    auto const place = folder_.result_path(header_.shard).parent_path();
    return ShardFault{kExitShardAgain, place.string() + ": " + done.error().message()};
  }

  std::optional<ShardFault> record_into(RecordingFolder& folder) {
    std::string list;
    for (const ShardPart& each : shard_.parts) list += plan_.pages[each.page].source + "\n";
    auto done = folder.make();
    if (done) done = write_private_file(list, folder.path() / "urls.txt");
    if (!done) {
      return ShardFault{kExitShardAgain, folder.path().string() + ": " + done.error().message()};
    }
    std::vector<std::string> words{"record", "--urls", (folder.path() / "urls.txt").string(), "-o",
                                   folder.path().string()};
    words.insert(words.end(), {"--browser", plan_.campaign.browsers.front()});
    auto const& flags = plan_.campaign.flags;
    words.insert(words.end(), flags.begin(), flags.end());
    auto const code = run_self(std::move(words));
    if (code != kExitDone && code != kExitFailed && code != kExitGate) {
      return ShardFault{code, "`reprise record` failed; the log of this shard has the reason"};
    }
    auto const corpus = read_json(folder.path() / "corpus.json");
    return judge(
        recorded_pages(plan_, shard_, corpus.is_object() ? corpus.get_object() : json::object()));
  }

  /// Why this is no result yet. A page that cannot be recorded is one, like a load that fails, when
  /// it has failed twice.
  std::optional<ShardFault> judge(const RecordedPages& pages) {
    if (pages.unreached > 0) {
      return ShardFault{kExitShardAgain,
                        "`reprise record` ended before all pages of the shard were recorded; the "
                        "log of this shard has the reason"};
    }
    header_.loads = shard_.parts.size();
    header_.failed = pages.failures.size();
    for (const PageFailure& each : pages.failures) add_failure(each);
    if (pages.failures.empty()) return std::nullopt;
    auto const& why = pages.failures.front().why;
    if (pages.failures.size() == shard_.parts.size()) {
      ShardFault fault{kExitShardAgain, "no page of the shard can be recorded", why};
      if (is_final_for_all(fault)) return std::nullopt;
      return fault;
    }
    ShardFault fault{kExitFailed, not_recorded_text(plan_, pages.failures), why};
    if (is_final(fault, true)) return std::nullopt;
    return fault;
  }

  const CampaignFolder& folder_;
  const Plan& plan_;
  const Shard& shard_;
  ShardHeader header_;
  std::string records_;
};

}  // namespace

int run_shard(const CampaignFolder& folder, std::size_t number, const std::string& node) {
  auto const put_off = [&](std::string why) {
    folder.keep_failure({.shard = number, .node = node, .reason = std::move(why)});
    return Interruption::was_asked() ? Interruption::exit_code() : kExitShardAgain;
  };
  if (folder.is_done(number)) {
    if (!folder.set_aside(number, refused_nodes(folder.node_checks()))) {
      return put_off("the result of a refused node cannot be set aside");
    }
    if (folder.is_done(number)) return kExitDone;
  }
  std::optional<NodeLock> alone;
  if (folder.plan().campaign.task != CampaignFile::Task::kRecord) {
    auto lock = NodeLock::take(node);
    if (!lock) return put_off(lock.error());
    alone.emplace(std::move(*lock));
  }
  if (folder.is_done(number)) return kExitDone;
  if (auto const bad = check_node(folder, node)) {
    return put_off((bad->is_refused ? "node refused: " : "") + bad->why);
  }
  auto const fault = ShardRun(folder, number, node).run();
  if (!fault) return kExitDone;
  folder.keep_failure(
      {.shard = number, .node = node, .reason = fault->text, .detail = fault->detail});
  return fault->exit_code;
}

}  // namespace reprise
