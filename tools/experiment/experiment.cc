#include "tools/experiment/experiment.h"

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/system/private_file.h"
#include "tools/load/load_table.h"

namespace reprise {

namespace {

/// Of a load without it, as long as it went on: what a page did not get to does not make a busy
/// moment count for more.
double time_of(const PageLoad& page, std::size_t metric) {
  auto const time = page.*kMetrics[metric].value;
  return time ? *time : page.machine ? page.machine->span_ms : 0;
}

}  // namespace

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
  auto const counted = run - std::min(run, repeated_);
  auto const left =
      spent_ / loads_ * (sides_.size() * (most_runs_ - std::min(counted, most_runs_)));
  std::fprintf(
      stderr, "%s, at most %s left\n",
      run == 0 ? "warmed up"
               : ("run " + std::to_string(counted) + " of at most " + std::to_string(most_runs_))
                     .c_str(),
      duration_text(std::chrono::ceil<std::chrono::seconds>(left)).c_str());
}

std::string Experiment::skip_disturbed(std::size_t run, const CountedLoads& counted) {
  return skip_disturbed(run, std::span(sides_), counted);
}

std::string Experiment::skip_disturbed(std::size_t run, std::size_t side,
                                       const CountedLoads& counted) {
  return skip_disturbed(run, std::span(sides_).subspan(side, 1), counted);
}

// A load whose link missed its settings would not count, its partner on the other side would.
std::string Experiment::skip_disturbed(std::size_t run, std::span<ExperimentSide> sides,
                                       const CountedLoads& counted) {
  if (counted.doubtful) return {};
  UsualSteal usual;
  for (const ExperimentSide& side : sides_) {
    for (const LoadResult::Load& load : side.result().loads) {
      if (!load.warm_up) usual.add(disturbances_of(load.page, side.result().replay_of(load)));
    }
  }
  std::string why;
  std::vector<LoadResult::Load*> of_run;
  for (ExperimentSide& side : sides) {
    for (LoadResult::Load& load : side.result().loads) {
      if (load.run != run || load.warm_up || !load.skipped.empty()) continue;
      of_run.push_back(&load);
      if (!why.empty()) continue;
      auto const* const replay = side.result().replay_of(load);
      auto const found =
          disturbed(disturbances_of(load.page, replay),
                    least_effect_ms(counted, time_of(load.page, counted.metric)), usual.share());
      if (found) {
        why = found->text;
      } else if (replay != nullptr && replay->link && !replay->link->warnings.empty()) {
        why = replay->link->warnings.front();
      }
    }
  }
  if (why.empty()) {
    undisturbed_.insert(run);
    return why;
  }
  ++repeated_;
  for (LoadResult::Load* const load : of_run) load->skipped = why;
  return why;
}

Measurements Experiment::measured(std::size_t side) const {
  auto read = measurements_of(sides_[side].result());
  if (!read) {  // what this program measures can be compared
    std::fprintf(stderr, "reprise: cannot read a load: %s\n", read.error().c_str());
    std::abort();
  }
  for (std::size_t i = 0; i < read->loads.size(); ++i) {
    auto const& load = sides_[side].result().loads[i];
    read->loads[i].counts = load.skipped.empty() && undisturbed_.contains(load.run);
  }
  return std::move(*read);
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
