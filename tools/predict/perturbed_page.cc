#include "tools/predict/perturbed_page.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <utility>

#include "analysis/dependency/perturbation.h"
#include "archive/match/match.h"
#include "base/text/counted.h"
#include "base/text/formatted.h"
#include "base/text/printable.h"
#include "proxy/whatif/page_requests.h"
#include "tools/archive/errors.h"
#include "tools/archive/given_archive.h"
#include "tools/experiment/change_side.h"
#include "tools/predict/answered_nodes.h"
#include "tools/process/interruption.h"
#include "tools/process/say.h"

namespace reprise {
namespace {

using Clock = std::chrono::steady_clock;

/// Of each perturbation: what is late by chance is not late in all of them.
constexpr std::size_t kLoads = 3;

/// By node, the numbers of the responses that answer it, as filters count them.
using RecordedNumbers = std::map<std::uint32_t, std::set<std::size_t>>;

std::expected<RecordedNumbers, std::string> answers_of(const ExperimentSide& base,
                                                       const DependencyGraph& graph) {
  auto const& path = base.what_if().path();
  auto const archive = ArchiveReader::open(path, {});
  if (!archive) return std::unexpected(archive_error_text(path, archive.error()));
  auto const asked = base.what_if_options().session;
  // A changed copy has one session.
  auto const session = path != base.archive() ? (*archive)->sessions().front().number
                                              : (asked == 0 ? session_to_replay(**archive) : asked);
  auto const requests = whatif::PageRequests::read(**archive, session, {});
  auto const answered = answered_nodes(graph, requests.all());
  RecordedNumbers answers;
  for (std::size_t i = 0; i < answered.size(); ++i) {
    auto const& request = requests.all()[i];
    if (!request.is_answered) continue;
    for (auto const node : answered[i]) answers[node].insert(request.number);
  }
  return answers;
}

/// The what-ifs that hold these responses back; empty if one of them is not recorded.
std::vector<std::string> what_ifs_of(const Perturbation& perturbation,
                                     const RecordedNumbers& answers) {
  auto const hold_ms = (perturbation.hold_us + 999) / 1000;
  std::vector<std::string> texts;
  for (auto const node : perturbation.held) {
    auto const found = answers.find(node);
    if (found == answers.end()) return {};
    std::string numbers;
    for (auto const number : found->second) {
      numbers += (numbers.empty() ? "" : ",") + std::to_string(number);
    }
    texts.push_back("number=" + numbers + ": think=+" + std::to_string(hold_ms) + "ms");
  }
  return texts;
}

std::string findings_text(const std::vector<DependencyFinding>& findings) {
  std::size_t confirmed = 0, denied = 0, found = 0;
  for (DependencyFinding const& each : findings) {
    using What = DependencyFinding::What;
    ++(each.what == What::kConfirmed ? confirmed : each.what == What::kDenied ? denied : found);
  }
  return std::to_string(confirmed) + " dependencies confirmed, " + std::to_string(denied) +
         " denied, " + std::to_string(found) + " found";
}

/// Takes also what was tested earlier, and not now; keeps all of it.
void end_search(const ExperimentSide& base, DependencySearch& search, LearntPage& page) {
  auto const file = tested_file_of(base);
  auto const& sha256 = base.result().archive_sha256;
  auto const earlier = file.page(sha256, page.graph.page);
  if (!earlier) say(0, earlier.error());
  if (earlier && *earlier) search.take_earlier(**earlier);
  page.graph = search.graph();
  page.tests = search.tests();
  if (page.tests.empty()) return;
  if (auto const lost = file.keep(sha256, {page.graph, page.tests})) say(0, *lost);
}

}  // namespace

std::optional<int> test_dependencies(const PerturbTask& task, LearntPage& page) {
  auto const answers = answers_of(task.base, page.graph);
  if (!answers) return say(kExitArchive, answers.error());
  DependencySearch search(page.graph, page.loads);
  std::size_t tested = 0;
  std::optional<int> stopped;
  while (auto const perturbation = search.next()) {
    if (Clock::now() >= task.ends) {
      say(0, "the time for --perturb is over: not all dependencies are tested");
      break;
    }
    auto const what_ifs = what_ifs_of(*perturbation, *answers);
    if (what_ifs.empty()) {
      search.take(*perturbation, {});
      continue;
    }
    auto side = side_with(task.words, what_ifs, task.seed, "predict");
    if (!side) {
      stopped = side.error();
      break;
    }
    side->name_files("perturbed-" + std::to_string(++tested));
    for (std::size_t run = 1; run <= kLoads && !stopped; ++run) {
      if (side->load(run)) continue;
      stopped = Interruption::was_asked() ? say(Interruption::exit_code(), "interrupted")
                                          : say(side->exit_code(), "cannot load any more pages");
    }
    if (stopped) break;
    auto const loads = observed_loads(side->result());
    auto const findings = search.take(*perturbation, loads);
    auto const left = std::chrono::ceil<std::chrono::seconds>(
        std::max<Clock::duration>(task.ends - Clock::now(), Clock::duration::zero()));
    std::fprintf(stderr, "held back %s by %s: %s, at most %s left\n",
                 printable(page.graph.nodes[perturbation->held.front()].name).c_str(),
                 (std::to_string(perturbation->hold_us / 1000) + " ms").c_str(),
                 findings_text(findings).c_str(), duration_text(left).c_str());
  }
  end_search(task.base, search, page);
  return stopped;
}

TestedFile tested_file_of(const ExperimentSide& side) {
  // An import is a copy elsewhere, which is removed.
  std::filesystem::path const named = side.result().archive;
  return TestedFile(GivenArchive::is_imported(named) ? named : side.archive());
}

std::optional<std::string> use_kept_tests(const ExperimentSide& base, LearntPage& page) {
  if (page.loads.empty() || !base.what_if_options().texts.empty()) return std::nullopt;
  auto const file = tested_file_of(base);
  auto const kept = file.page(base.result().archive_sha256, page.graph.page);
  if (!kept) return kept.error();
  if (!*kept) return std::nullopt;
  DependencySearch search(std::move(page.graph), page.loads);
  auto const findings = search.take_earlier(**kept);
  page.graph = search.graph();
  page.tests = search.tests();
  if (page.tests.empty()) return std::nullopt;  // of what this page does not request
  return "tested by an earlier --perturb: " + findings_text(findings) + " (" +
         file.path().string() + ")";
}

}  // namespace reprise
