#include "tools/record/record_corpus.h"

#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <utility>

#include "base/system/guarded_process.h"
#include "base/system/private_folder.h"
#include "base/system/text_file.h"
#include "base/text/counted.h"
#include "pageload/results/result_file.h"
#include "tools/commands.h"
#include "tools/process/interrupted_process.h"
#include "tools/process/interruption.h"
#include "tools/record/corpus_list.h"
#include "tools/record/corpus_summary.h"

namespace fs = std::filesystem;
using namespace std::chrono_literals;

namespace reprise {
namespace {

constexpr std::uintmax_t kListBytesMax = 64 << 20;
/// Beyond the page's own timeout: for the browser's start and the archive's end.
constexpr auto kRecordTime = 180s;
constexpr std::size_t kMissesNamed = 3;

/// The result of one attempt to record a page.
struct Attempt {
  std::optional<int> exit_code;        ///< nothing: it did not end, and was killed
  std::optional<LoadOutcome> outcome;  ///< of the load; nothing if it was not reached
  std::string failure;
};

/// Reads the one load of a load report.
void read_load_report(const fs::path& path, Attempt& attempt) {
  auto const result = read_result_file(path);
  if (!result || result->loads.empty()) return;
  attempt.outcome = result->loads[0].page.outcome;
  attempt.failure = result->loads[0].page.failure;
}

Attempt record_once(const CorpusOptions& options, const CorpusPage& page, const fs::path& archive) {
  auto const folder = make_private_folder("reprise-corpus-");
  if (!folder) return {.exit_code = kExitFailed, .failure = folder.error().message()};
  auto const report = *folder / "load.json";
  std::vector<std::string> arguments{"record", "-o", archive.string(), "--load-report",
                                     report.string()};
  arguments.insert(arguments.end(), options.record_arguments.begin(),
                   options.record_arguments.end());
  arguments.push_back(page.url);
  auto process = GuardedProcess::start({.program = "/proc/self/exe",
                                        .arguments = std::move(arguments),
                                        .environment = environment_with({}),
                                        .folder = *folder});
  if (!process) return {.exit_code = kExitFailed, .failure = process.error().message()};
  Attempt attempt;
  auto const deadline = std::chrono::steady_clock::now() + options.timeout + kRecordTime;
  if (auto const status = wait_or_interrupt(**process, deadline)) {
    attempt.exit_code = WIFEXITED(*status) ? WEXITSTATUS(*status) : 128 + WTERMSIG(*status);
  }
  read_load_report(report, attempt);
  if (!attempt.exit_code) {
    attempt.failure = "The recorder did not end in time and was killed.";
  } else if (*attempt.exit_code != kExitDone && attempt.failure.empty()) {
    attempt.failure = "The recorder ended with exit code " + std::to_string(*attempt.exit_code);
  }
  return attempt;
}

/// Whether the archive has a page to check. A page that was not quiet in time counts.
bool has_page(const Attempt& attempt) {
  return attempt.exit_code &&
         ((*attempt.exit_code == kExitDone && attempt.outcome == LoadOutcome::kLoaded) ||
          (*attempt.exit_code == kExitFailed && attempt.outcome == LoadOutcome::kTimedOut));
}

/// Whether every further page would end the same way.
bool is_hopeless(const Attempt& attempt) {
  return attempt.exit_code == kExitUsage || attempt.exit_code == kExitArchive ||
         attempt.exit_code == kExitListen;
}

void take_misses(const ReplaySummary& report, CorpusEntry& entry) {
  entry.misses = static_cast<std::uint64_t>(report.misses.value_or(0));
  if (entry.misses == 0) return;
  std::string text = "the archive lacks " + counted(entry.misses, "request") + " of the replay";
  std::size_t named = 0;
  for (const ReplaySummary::Miss& miss : report.distinct_misses) {
    if (named == kMissesNamed) break;
    text += named++ == 0 ? ": " : ", ";
    text += miss.url.substr(0, 120);
  }
  entry.problems.push_back({.kind = "misses", .text = std::move(text)});
}

/// Loads the page from its archive and records its problems. Returns why there is no page if not
/// even its document is there: the recorder itself told the browser that the origin did not answer.
std::string judge(const CorpusOptions& options, const fs::path& archive, CorpusEntry& entry) {
  auto setup = options.check;
  setup.archive = archive;
  setup.stop = Interruption::was_asked;
  auto const measured =
      measure_load(setup, {.browser = options.browser}, entry.page.url, entry.page.name);
  if (!measured.page) {
    auto text = measured.messages;
    while (text.ends_with('\n')) text.pop_back();
    return text;
  }
  // A failed exchange fails again, and a cut one can be a miss.
  const PageLoad& load = *measured.page;
  if (load.outcome == LoadOutcome::kNavigationFailed ||
      load.outcome == LoadOutcome::kNotInArchive) {
    return "The document did not come from its origin: " + load.failure;
  }
  auto const* const document = document_of(load);
  entry.status = document == nullptr ? 0 : document->status;
  entry.requests = load.requests.size();
  entry.bytes = static_cast<std::int64_t>(load.encoded_bytes.value_or(0));
  entry.load_event_ms = load.load_event_ms;
  for (PageProblem& problem : check_page(load)) entry.problems.push_back(std::move(problem));
  bool const has_report = measured.replay && measured.replay->report;
  if (has_report) take_misses(*measured.replay->report, entry);
  return {};
}

/// Records one page, checks it, and moves its archive to its place. Returns an exit code if further
/// pages are pointless.
std::optional<int> record_page(const CorpusOptions& options, CorpusEntry& entry) {
  auto const archive = options.folder / (entry.page.name + ".reprise");
  auto const part = fs::path(archive).concat(".part");
  std::error_code error;
  while (entry.attempts <= options.retries && !entry.recorded) {
    fs::remove(part, error);  // a partial archive of an attempt that failed or was interrupted
    ++entry.attempts;
    auto const attempt = record_once(options, entry.page, part);
    if (Interruption::was_asked()) return Interruption::exit_code();
    if (is_hopeless(attempt)) return attempt.exit_code;
    entry.failure = attempt.failure;
    if (!has_page(attempt)) continue;
    entry.problems.clear();
    if (attempt.outcome != LoadOutcome::kLoaded) {
      entry.problems.push_back(
          {.kind = "not-loaded", .text = "While it was recorded: " + attempt.failure});
    }
    entry.failure = judge(options, part, entry);
    if (Interruption::was_asked()) return Interruption::exit_code();
    entry.recorded = entry.failure.empty();
  }
  if (!entry.recorded) {
    fs::remove(part, error);
    return std::nullopt;
  }
  fs::rename(part, archive, error);
  if (!error) return std::nullopt;
  std::fprintf(stderr, "reprise: %s cannot be written: %s\n", archive.c_str(),
               error.message().c_str());
  return kExitFailed;
}

bool is_done(const CorpusOptions& options, const CorpusSummary& summary, const CorpusPage& page) {
  auto const* const entry = summary.find(page.name);
  std::error_code error;
  return entry != nullptr && entry->recorded && entry->page.url == page.url &&
         fs::is_regular_file(options.folder / (page.name + ".reprise"), error);
}

int exit_code_of(const CorpusSummary& summary, const std::vector<CorpusPage>& pages) {
  int code = kExitDone;
  for (const CorpusPage& page : pages) {
    auto const* const entry = summary.find(page.name);
    if (entry == nullptr || !entry->recorded) return kExitFailed;
    if (!entry->problems.empty()) code = kExitGate;
  }
  return code;
}

/// Returns an exit code if it ended early.
std::optional<int> record_pages(const CorpusOptions& options, const std::vector<CorpusPage>& pages,
                                CorpusSummary& summary) {
  Interruption const interruption;
  std::size_t number = 0;
  for (const CorpusPage& page : pages) {
    ++number;
    if (Interruption::was_asked()) return Interruption::exit_code();
    bool const done = is_done(options, summary, page);
    std::fprintf(stderr, "page %zu of %zu: %s%s\n", number, pages.size(), page.url.c_str(),
                 done ? ": recorded already" : "");
    if (done) continue;
    CorpusEntry entry{.page = page};
    if (auto const ended = record_page(options, entry)) return ended;
    summary.put(std::move(entry));
    if (!summary.write(options.folder)) return kExitFailed;
  }
  return std::nullopt;
}

}  // namespace

int record_corpus(const CorpusOptions& options) {
  auto const list = read_text_file(options.list, kListBytesMax);
  if (!list) {
    std::fprintf(stderr, "reprise: --urls %s: %s\n", options.list.c_str(),
                 list.error().message().c_str());
    return kExitUsage;
  }
  auto const pages = parse_corpus_list(*list);
  if (!pages) {
    std::fprintf(stderr, "reprise: --urls %s: %s\n", options.list.c_str(), pages.error().c_str());
    return kExitUsage;
  }
  std::error_code error;
  fs::create_directories(options.folder, error);
  if (error) {
    std::fprintf(stderr, "reprise: -o %s: %s\n", options.folder.c_str(), error.message().c_str());
    return kExitFailed;
  }
  auto summary = CorpusSummary::read(options.folder);
  if (!summary) {
    std::fprintf(stderr, "reprise: %s\n", summary.error().c_str());
    return kExitFailed;
  }
  auto const ended = record_pages(options, *pages, *summary);
  std::fputs(summary->table(*pages).c_str(), stdout);
  return ended ? *ended : exit_code_of(*summary, *pages);
}

}  // namespace reprise
