#include "tools/why/why_run.h"

#include <algorithm>
#include <cstdio>

#include "archive/match/match.h"
#include "base/system/private_folder.h"
#include "base/text/counted.h"
#include "base/text/formatted.h"
#include "base/text/printable.h"
#include "pageload/run/load_run.h"
#include "tools/archive/errors.h"
#include "tools/archive/given_archive.h"
#include "tools/commands.h"
#include "tools/compare/compare_options.h"
#include "tools/experiment/change_side.h"
#include "tools/experiment/gate_run.h"
#include "tools/experiment/remedy.h"
#include "tools/process/interruption.h"
#include "tools/process/say.h"
#include "tools/why/explained_metric.h"

namespace reprise {
namespace {

namespace fs = std::filesystem;

/// An archive that is compared, open for as long as hybrids are made.
struct Opened {
  std::string name;
  GivenArchive given;
  std::unique_ptr<ArchiveReader> reader;
  std::uint32_t session = 0;
  bool has_link = false;

  ComparedArchive compared() const { return {.reader = *reader, .session = session}; }
};

bool is_link(const std::string& given) {
  return given != "none";
}

std::expected<Opened, int> open(const std::vector<std::string>& words) {
  LoadOptions load;
  if (auto const wrong = parse_load_words(words, load)) {
    return std::unexpected(say(kExitUsage, "why: " + *wrong));
  }
  auto given = GivenArchive::take(load.archive());
  if (!given) return std::unexpected(given.error());
  auto reader = ArchiveReader::open(given->path(), {});
  if (!reader) {
    return std::unexpected(say(kExitArchive, archive_error_text(load.archive(), reader.error())));
  }
  auto const asked = load.what_if().session;
  if (!has_session(**reader, asked)) {
    return std::unexpected(say(kExitArchive, no_session_text(load.archive(), asked)));
  }
  auto const session = asked == 0 ? session_to_replay(**reader) : asked;
  return Opened{.name = without_slash(load.archive()).filename().string(),
                .given = std::move(*given),
                .reader = std::move(*reader),
                .session = session,
                .has_link = std::ranges::any_of(load.links, is_link)};
}

std::vector<std::string> with_archive(std::vector<std::string> words, const fs::path& archive) {
  LoadOptions load;
  parse_load_words(words, load);  // they were parsed before
  *std::ranges::find(words, load.arguments.front()) = archive.string();
  return words;
}

}  // namespace

struct WhyRun::Archives {
  Opened a, b;
  PrivateFolder folder;  // of hybrids
};

WhyRun::WhyRun(WhyOptions options)
    : options_(std::move(options)), ends_(std::chrono::steady_clock::now() + options_.budget) {}

WhyRun::~WhyRun() = default;

std::optional<int> WhyRun::find_differences() {
  auto a = open(options_.words_a);
  if (!a) return a.error();
  auto b = open(options_.words_b);
  if (!b) return b.error();
  auto folder = PrivateFolder::make("reprise-why-");
  if (!folder) return say(kExitFailed, "cannot create a folder: " + folder.error().message());
  names_ = {a->name, b->name};
  archives_ = std::make_unique<Archives>(std::move(*a), std::move(*b), std::move(*folder));
  auto const& [one, other, place] = *archives_;
  auto page_a = RecordedPage::read(*one.reader, one.session);
  auto page_b = RecordedPage::read(*other.reader, other.session);
  for (auto const& [page, name] : {std::pair(&page_a, "A"), {&page_b, "B"}}) {
    if (page->exchanges.empty()) {
      return say(kExitArchive,
                 std::string(name) + " has no exchanges: there is nothing to compare");
    }
  }
  differences_ = reprise::find_differences(std::move(page_a), std::move(page_b),
                                           bodies_of(*one.reader), bodies_of(*other.reader));
  if (!one.has_link) leave_out_names(differences_);  // no browser looks them up
  for (std::size_t i = 0; i < differences_.groups.size(); ++i) {
    if (differences_.groups[i].can_be_put_in) candidates_.push_back(i);
  }
  say(0, "A and B differ in " + counted(differences_.all.size(), "thing") + ", which are " +
             counted(differences_.groups.size(), "group") + "; " +
             std::to_string(candidates_.size()) + " of them can be measured");
  if (differences_.all.empty()) return say(kExitDone, "A and B are the same: there is no cause");
  if (candidates_.empty()) {
    return say(kExitFailed, "a replay of A can have none of the differences");
  }
  return std::nullopt;
}

ServerTraces WhyRun::traces(std::size_t side) const {
  auto const& of = side == 0 ? archives_->a : archives_->b;
  return server_traces(*of.reader, of.session);
}

std::optional<int> WhyRun::compare_sides(std::size_t most_runs) {
  std::vector<ExperimentSide> sides;
  for (auto const* const words : {&options_.words_a, &options_.words_b}) {
    auto side = side_with(*words, {}, options_.seed, "why");
    if (!side) return side.error();
    if (side->cells().size() != 1) {
      return say(kExitUsage, kOneCell);
    }
    sides.push_back(std::move(*side));
  }
  if (sides[0].cells().front().url != sides[1].cells().front().url) {
    return say(kExitUsage, "A and B start with different pages: give the URL of one");
  }
  auto compare = options_.compare;
  compare.allowed.merge(stated_differences(sides[0], sides[1]));
  compare.allowed.insert({Mismatch::kArchive, Mismatch::kRequests, Mismatch::kMisses});
  Experiment experiment(std::move(sides), most_runs);
  if (auto const code = check_first_loads(experiment)) return code;
  GateRun run({.compare = compare, .most_runs = most_runs, .seed = options_.seed},
              std::move(experiment));
  auto const left =
      std::chrono::ceil<std::chrono::seconds>(ends_ - std::chrono::steady_clock::now());
  auto const result = run.run(left / 2, options_.folder, {});
  if (!result) return result.error();
  kept_ = run.kept();
  if (auto const code = run.tell_end(*result)) return code;
  auto const& comparison = result->look.comparison;
  for (auto const& refusal : comparison.refusals) say(0, refusal.text);
  auto const code = exit_code_of(comparison);
  if (!comparison.pages.empty() && !comparison.pages.front().metrics.empty()) {
    auto const& finding = comparison.pages.front().metrics.front().finding;
    options_.median_a = finding.median_a;
    options_.gate_shift = finding.shift.estimate;
    options_.gate_loads = result->look.runs;
  }
  if (code == kExitGate) {
    auto const failures = only_failures_text(comparison.pages.front());
    if (failures.empty()) return std::nullopt;
    return say(code, printable(failures));
  }
  if (code == kExitDone) return say(code, "B does not differ from A: there is no cause to find");
  if (code == kExitUndecided) {
    return say(code, "it is not known whether B differs from A: no cause can be found");
  }
  return code;
}

std::optional<int> WhyRun::check_first_loads(Experiment& experiment) {
  for (std::size_t side = 0; side < 2; ++side) {
    auto const* const name = side == 0 ? "A" : "B";
    if (!experiment.load(side, 0)) {
      if (Interruption::was_asked()) return say(Interruption::exit_code(), "interrupted");
      return say(experiment.exit_code(), std::string(name) + " cannot be loaded");
    }
    auto const& result = experiment.side(side).result();
    auto const& load = result.loads.back();
    if (load.page.outcome != LoadOutcome::kLoaded) {
      return say(kExitFailed, std::string(name) + " did not load: " + load.page.failure);
    }
    auto const* const replay = result.replay_of(load);
    if (replay == nullptr) continue;
    for (auto const& miss : replay->distinct_misses) {
      known_misses_.insert(miss.method + " " + miss.url);
      if (options_.compare.allowed.contains(Mismatch::kMisses)) continue;
      return say(kExitFailed, std::string(name) + " asks for what it does not have: " +
                                  printable(miss.method + " " + miss.url) +
                                  ". Record it again, or use --allow misses");
    }
  }
  return std::nullopt;
}

void WhyRun::allow_misses_of(const LoadResult& side) {
  known_misses_.merge(side.missed_requests());
}

std::optional<int> WhyRun::check_misses(const LoadResult& result, const EffectRow& row) {
  auto const* const replay = result.replay_of(result.loads.back());
  if (replay == nullptr) return std::nullopt;
  for (auto const& miss : replay->distinct_misses) {
    if (known_misses_.contains(miss.method + " " + miss.url)) continue;
    if (options_.compare.allowed.contains(Mismatch::kMisses)) continue;
    auto const missed = printable(miss.method + " " + miss.url);
    if (!is_hybrid(row)) {
      return say(kExitFailed, "A asks for what it does not have: " + missed +
                                  ". Record it again, or use --allow misses");
    }
    return say(kExitFailed,
               "neither archive has what a load of A with some of B's differences "
               "asks for: " +
                   missed + ". Put in were:\n" + names_of(row) +
                   "reprise: --allow misses measures all the same");
  }
  return std::nullopt;
}

bool WhyRun::is_hybrid(const EffectRow& row) {
  return !row.is_b && std::ranges::find(row.in, true) != row.in.end();
}

std::string WhyRun::names_of(const EffectRow& row) const {
  std::string names;
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    if (row.in[i]) names += "  " + printable(differences_.groups[candidates_[i]].title) + "\n";
  }
  return names;
}

std::expected<ExperimentSide, int> WhyRun::side_of(const EffectRow& row) {
  if (row.is_b) return side_with(options_.words_b, {}, options_.seed, "why");
  if (!is_hybrid(row)) {
    return side_with(options_.words_a, {}, options_.seed, "why");
  }
  std::vector<bool> groups(differences_.groups.size());
  for (std::size_t i = 0; i < candidates_.size(); ++i) groups[candidates_[i]] = row.in[i];
  auto const path = archives_->folder.path() / "hybrid.reprise";
  std::error_code ignored;
  fs::remove(path, ignored);
  HybridMaker const maker(archives_->a.compared(), archives_->b.compared(), differences_);
  if (auto const written = maker.write(groups, path); !written) {
    return std::unexpected(
        say(kExitFailed, "A cannot be changed to what B is: " + printable(written.error())));
  }
  return side_with(with_archive(options_.words_a, path), {}, options_.seed, "why");
}

std::expected<WhyRun::Loaded, int> WhyRun::load(EffectRow& row) {
  auto side = side_of(row);
  if (!side) return std::unexpected(side.error());
  auto const run = rows_.size() + 1;
  side->name_files("why-" + std::to_string(run));
  side->say_by(said_);
  if (!side->load(run)) {
    if (Interruption::was_asked()) return std::unexpected(Interruption::exit_code());
    return std::unexpected(say(side->exit_code(), "cannot load any more pages"));
  }
  auto& result = side->result();
  auto& load = result.loads.back();
  auto const metric = options_.compare.metrics.front();
  auto const value = load.page.*kMetrics[metric].value;
  auto end = load.page.outcome == LoadOutcome::kLoaded && value ? Loaded::kCounts : Loaded::kFailed;
  if (!row.is_b) {
    if (auto const code = check_misses(result, row)) return std::unexpected(*code);
  }
  row.value = value.value_or(0);
  if (end == Loaded::kCounts) {
    auto counted = counted_loads(options_.compare);
    counted.usual_steal = steal_.share();
    load.skipped = reason_to_skip(result, load, counted);
    if (!load.skipped.empty()) end = Loaded::kDisturbed;
  }
  // A burst of steal must not be its own excuse.
  steal_.add(disturbances_of(load.page, result.replay_of(load)));
  if (end == Loaded::kFailed) {
    bool const loaded = load.page.outcome == LoadOutcome::kLoaded;
    load.skipped = loaded ? "it has no " + std::string(kMetrics[metric].title) : "it did not load";
  }
  if (rows_.empty()) {
    loads_ = result;
    loads_.loads.clear();
    loads_.replays.clear();
  }
  rows_.push_back({.row = row, .counts = end == Loaded::kCounts});
  move_last_load(result, loads_);
  return end;
}

std::optional<int> WhyRun::run_round(CauseSearch& search) {
  for (EffectRow& row : search.next_round()) {
    while (true) {
      auto const end = load(row);
      if (!end) return end.error();
      if (*end == Loaded::kCounts) {
        search.add(row);
        break;
      }
      if (*end == Loaded::kFailed && is_hybrid(row)) {
        return say(kExitFailed, "a load of A with some of B's differences does not count: " +
                                    loads_.loads.back().skipped + ". Put in were:\n" +
                                    names_of(row));
      }
      print_repeat("a load", loads_.loads.back().skipped);
      if (auto const code = count_repeat(row, *end, search.rows().size())) return code;
      if (no_more_loads()) break;
    }
    if (no_more_loads()) break;
  }
  return std::nullopt;
}

std::optional<int> WhyRun::count_repeat(const EffectRow& row, Loaded end,
                                        std::size_t counted_rows) {
  if (end == Loaded::kDisturbed) {
    repeats_.add();
    if (!repeats_.too_many(counted_rows)) return std::nullopt;
    auto const& why = loads_.loads.back().skipped;
    return say(kExitUndecided, "undecided, since the machine disturbs the loads, the last one: " +
                                   printable(why) + ". " + remedy_text(why));
  }
  auto& failures = failures_[row.is_b ? 1 : 0];
  failures.add();
  auto const of_side = std::ranges::count_if(rows_, [&row](const MeasuredRow& each) {
    return each.counts && each.row.is_b == row.is_b && !is_hybrid(each.row);
  });
  if (!failures.too_many(static_cast<std::size_t>(of_side))) return std::nullopt;
  auto const& last = loads_.loads.back();
  auto text = std::string("undecided: too many loads of ") + (row.is_b ? "B" : "A") +
              " fail, the last one because " + last.skipped;
  if (!last.page.failure.empty()) text += ": " + printable(last.page.failure);
  return say(kExitUndecided, text);
}

double least_cause(const WhyOptions& options) {
  // Where there is no absolute minimum, as of bytes, and A's median is 0.
  constexpr double kLeast = 1e-3;
  auto const least = minimum_effect(options.compare, options.compare.metrics.front());
  return std::max(least.of(options.median_a), kLeast);
}

std::optional<int> WhyRun::find_causes() {
  CauseSearch search({.causes = candidates_.size(),
                      .alpha = options_.compare.alpha,
                      .least = least_cause(options_),
                      .seed = options_.seed});
  auto const began = std::chrono::steady_clock::now();
  bool goes_on = true;
  while (goes_on && !time_is_up() &&
         rows_.size() + CauseSearch::kRoundLoads <= options_.most_loads) {
    if (auto const code = run_round(search)) {
      interrupted_ = Interruption::was_asked();
      if (!interrupted_) return code;
      break;
    }
    auto const now = std::chrono::steady_clock::now();
    auto const each = (now - began) / static_cast<long>(rows_.size());
    auto const more = static_cast<long>(options_.most_loads) - static_cast<long>(rows_.size());
    auto const left = most_time_left(each * std::max(0L, more), ends_ - now);
    std::fprintf(stderr, "%s of %s, at most %s left\n", counted(rows_.size(), "load").c_str(),
                 counted(search.parts().size(), "part").c_str(), duration_text(left).c_str());
    goes_on = search.goes_on();
  }
  effects_ = search.finish();
  if (!effects_) {
    if (interrupted_) {
      return say(Interruption::exit_code(), "interrupted after " + counted(rows_.size(), "load") +
                                                ", too few to tell " +
                                                counted(search.parts().size(), "cause") + " apart");
    }
    return say(kExitUndecided, "too few loads to tell " + counted(search.parts().size(), "cause") +
                                   " apart. Use " +
                                   (time_is_up() ? "a longer " + options_.budget_option
                                                 : "`reprise why` with more --max-loads"));
  }
  rank(search.parts());
  return std::nullopt;
}

}  // namespace reprise
