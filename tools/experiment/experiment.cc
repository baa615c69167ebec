#include "tools/experiment/experiment.h"

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "base/system/private_file.h"
#include "base/text/formatted.h"
#include "tools/process/say.h"

namespace reprise {

bool Experiment::load(std::size_t side, std::size_t run) {
  auto const began = std::chrono::steady_clock::now();
  bool const done = sides_[side].load(run);
  spent_ += std::chrono::steady_clock::now() - began;
  ++loads_;
  if (!done) {
    exit_code_ = sides_[side].exit_code();
    return false;
  }
  if (most_runs_ > 0 && loads_ % sides_.size() == 0) print_progress(run);
  return true;
}

void Experiment::print_progress(std::size_t run) const {
  auto const left = spent_ / loads_ * (sides_.size() * (most_runs_ - std::min(run, most_runs_)));
  std::fprintf(
      stderr, "%s, at most %s left\n",
      run == 0
          ? "warmed up"
          : ("run " + std::to_string(run) + " of at most " + std::to_string(most_runs_)).c_str(),
      duration_text(most_time_left(left, ends_ - std::chrono::steady_clock::now())).c_str());
}

// A load whose link missed its settings would not count, its partner on the other side would.
std::string Experiment::count_or_skip(std::size_t run, const CountedLoads& counted) {
  if (counted.doubtful) return {};
  std::vector<OfSide> of_run;
  for (ExperimentSide& side : sides_) {
    for (LoadResult::Load& load : side.result().loads) {
      bool const is_judged = load.warm_up || !load.skipped.empty();
      if (load.run == run && !is_judged) of_run.push_back({&side, &load});
    }
  }
  auto why = skip_if_disturbed(of_run, counted);
  if (why.empty()) undisturbed_.insert(run);
  return why;
}

std::string Experiment::count_or_skip_last(std::size_t side, const CountedLoads& counted) {
  if (counted.doubtful) return {};
  auto& loads = sides_[side].result().loads;
  std::vector<OfSide> last;
  for (auto load = loads.end() - static_cast<std::ptrdiff_t>(sides_[side].cells().size());
       load != loads.end(); ++load) {
    last.push_back({&sides_[side], &*load});
  }
  auto why = skip_if_disturbed(last, counted);
  if (why.empty()) {
    for (const OfSide& each : last) undisturbed_.insert(each.load->run);
  }
  return why;
}

// A burst of steal must not be its own excuse, so these loads themselves do not count as usual; the
// warm-ups do, since there is nothing else yet in the first run.
std::string Experiment::skip_if_disturbed(std::span<const OfSide> loads, CountedLoads counted) {
  UsualSteal usual;
  for (const ExperimentSide& side : sides_) {
    for (const LoadResult::Load& load : side.result().loads) {
      if (std::ranges::find(loads, &load, &OfSide::load) != loads.end()) continue;
      usual.add(disturbances_of(load.page, side.result().replay_of(load)));
    }
  }
  counted.usual_steal = usual.share();
  std::string why;
  for (auto const& [side, load] : loads) {
    why = reason_to_skip(side->result(), *load, counted);
    if (!why.empty()) break;
  }
  if (why.empty()) return why;
  for (auto const& [side, load] : loads) load->skipped = why;
  return why;
}

Measurements Experiment::measured(std::size_t side, std::size_t first_run) const {
  auto read = measurements_of(sides_[side].result());
  if (!read) {  // what this program measures can be compared
    std::fprintf(stderr, "reprise: cannot read a load: %s\n", read.error().c_str());
    std::abort();
  }
  std::vector<LoadRow> rows;
  for (std::size_t i = 0; i < read->loads.size(); ++i) {
    auto const& load = sides_[side].result().loads[i];
    if (load.run < first_run) continue;
    rows.push_back(std::move(read->loads[i]));
    rows.back().counts = load.skipped.empty() && undisturbed_.contains(load.run);
  }
  read->loads = std::move(rows);
  return std::move(*read);
}

std::chrono::seconds most_time_left(std::chrono::steady_clock::duration loads,
                                    std::chrono::steady_clock::duration budget) {
  return std::chrono::ceil<std::chrono::seconds>(
      std::max(std::chrono::steady_clock::duration::zero(), std::min(loads, budget)));
}

void print_repeat(const std::string& what, const std::string& why) {
  say(0, what + " is repeated: " + why);
}

bool keep_file(const std::filesystem::path& folder, const char* name,
               const boost::json::object& object) {
  if (folder.empty()) return true;
  auto const text = boost::json::serialize(object) + "\n";
  if (auto const written = write_private_file(text, folder / name); !written) {
    std::fprintf(stderr, "reprise: cannot write %s: %s\n", (folder / name).c_str(),
                 written.error().message().c_str());
    return false;
  }
  return true;
}

}  // namespace reprise
