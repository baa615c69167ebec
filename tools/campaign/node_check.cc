#include "tools/campaign/node_check.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json/parse.hpp>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "base/system/last_error.h"
#include "base/system/program.h"
#include "base/text/json_fields.h"
#include "base/text/white_space.h"
#include "tools/experiment/experiment.h"
#include "tools/process/interruption.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

bool is_asked_for(const CampaignFile& campaign, std::string_view browser) {
  return std::ranges::find(campaign.browsers, browser) != campaign.browsers.end();
}

/// Whether a check of `doctor` matters to this campaign. Its ports do not: shards take free ones.
bool concerns(const CampaignFile& campaign, std::string_view check) {
  if (check == "chromium") return is_asked_for(campaign, "chromium");
  if (check == "firefox") {
    return is_asked_for(campaign, "firefox") || is_asked_for(campaign, "firefox-esr");
  }
  if (check == "packet link") return campaign.links != std::vector<std::string>{"none"};
  return check == "ca" || check == "seccomp" || check == "open files";
}

/// Browsers that `doctor` does not know: other programs, by name or path.
void add_other_browsers(const CampaignFile& campaign, NodeCheck& check) {
  for (const std::string& browser : campaign.browsers) {
    if (browser == "chromium" || browser == "firefox" || browser == "firefox-esr") continue;
    bool const by_path = browser.find('/') != std::string::npos;
    auto const program = by_path ? std::optional<fs::path>(browser) : find_program(browser);
    auto const version = program ? run_program(*program, {"--version"})
                                 : Result<ProgramResult>(fail(
                                       std::make_error_code(std::errc::no_such_file_or_directory)));
    if (version && version->exit_code == 0) {
      check.browsers.push_back(browser + ": " + std::string(trim(version->output)));
    } else {
      check.problems.push_back("the browser '" + browser + "' does not start: " +
                               (version ? version->output : version.error().message()) +
                               "; fix: install it on this node");
    }
  }
}

void add_doctors_checks(const CampaignFile& campaign, NodeCheck& check) {
  auto const doctor = run_program("/proc/self/exe", {"doctor", "--json"}, std::chrono::seconds(60));
  boost::system::error_code malformed;
  auto const found = doctor ? json::parse(doctor->output, malformed) : json::value();
  if (!found.is_object()) {
    check.problems.emplace_back("`reprise doctor` does not work on this node: run it there");
    return;
  }
  for (const json::value& value : array_at(found.get_object(), "checks")) {
    if (!value.is_object()) continue;
    auto const& each = value.get_object();
    auto const name = text_at(each, "name");
    if (!concerns(campaign, name)) continue;
    if (flag_at(each, "ok")) {
      if (name == "chromium" || name == "firefox")
        check.browsers.emplace_back(text_at(each, "detail"));
      continue;
    }
    auto const fix = text_at(each, "fix");
    check.problems.push_back("`reprise doctor` finds no usable " + std::string(name) + ": " +
                             std::string(text_at(each, "detail")) +
                             (fix.empty() ? "" : "; fix: " + std::string(fix)));
  }
  add_other_browsers(campaign, check);
}

/// The same page on every node, without a link: what differs is the machine.
void calibrate(const Plan& plan, NodeCheck& check) {
  auto const& campaign = plan.campaign;
  std::vector<std::string> words{plan.pages.front().source, "--browser", campaign.browsers.front()};
  words.insert(words.end(), campaign.flags.begin(), campaign.flags.end());
  auto side = ExperimentSide::of_words(std::move(words));
  if (!side) {
    check.problems.push_back("the calibration cannot begin: " + side.error().text);
    return;
  }
  side->result().seed = campaign.seed;
  side->name_files("calibration");
  std::vector<ExperimentSide> sides;
  sides.push_back(std::move(*side));
  Experiment experiment(std::move(sides), 0);
  for (std::size_t run = 0; run <= kCalibrationLoads; ++run) {
    if (!experiment.load(0, run)) {
      check.problems.emplace_back(
          "no page can be loaded on this node: run `reprise load` of the plan's first archive "
          "there");
      return;
    }
  }
  for (const LoadResult::Load& load : experiment.side(0).result().loads) {
    if (load.warm_up || !load.page.load_event_ms) continue;
    check.load_events_ms.push_back(*load.page.load_event_ms);
  }
  if (check.load_events_ms.empty()) {
    check.problems.emplace_back(
        "the plan's first page never had a load event on this node: load it there with `reprise "
        "load`");
  }
}

}  // namespace

std::optional<NodeFault> check_node(const CampaignFolder& folder, const std::string& node) {
  auto checks = folder.node_checks();
  if (std::ranges::find(checks, node, &NodeCheck::node) == checks.end()) {
    NodeCheck check{.plan = folder.digest(), .node = node, .machine = this_machine()};
    add_doctors_checks(folder.plan().campaign, check);
    bool const records = folder.plan().campaign.task == CampaignFile::Task::kRecord;
    if (check.problems.empty() && !records) calibrate(folder.plan(), check);
    if (Interruption::was_asked()) {
      return NodeFault{.why = "interrupted while the node was checked"};
    }
    if (!folder.keep_node_check(check)) {
      return NodeFault{.why = "the node's check cannot be written"};
    }
    checks = folder.node_checks();
  }
  for (const RefusedNode& refused : refused_nodes(checks)) {
    if (refused.node == node) return NodeFault{.why = refused.why, .is_refused = true};
  }
  return std::nullopt;
}

std::expected<NodeLock, std::string> NodeLock::take(const std::string& node) {
  auto const refuse = [](const std::string& what, const std::error_code& error) {
    return std::unexpected(
        "the lock that keeps shards of this machine apart cannot be taken: " + what + ": " +
        error.message() + ". Set TMPDIR to a folder on this machine that you can write to");
  };
  std::string name = node;
  std::ranges::replace(name, '/', '_');
  std::error_code error;
  auto const folder = fs::temp_directory_path(error);
  if (error) {
    auto const* const given = std::getenv("TMPDIR");
    return refuse(given != nullptr ? given : "/tmp", error);
  }
  auto const path =
      folder / ("reprise-campaign-" + std::to_string(::getuid()) + "-" + name + ".lock");
  Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file.is_open()) return refuse(path.string(), last_system_error());
  while (::flock(file.get(), LOCK_EX) != 0) {
    if (errno != EINTR) return refuse(path.string(), last_system_error());
    if (Interruption::was_asked()) {
      return std::unexpected("interrupted while another shard ran on this machine");
    }
  }
  return NodeLock(std::move(file));
}

}  // namespace reprise
