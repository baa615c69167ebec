#include "tools/load/load_budget.h"

#include <algorithm>
#include <charconv>

#include "analysis/allotment/rounds.h"
#include "analysis/verdict.h"

namespace reprise {
namespace {

/// Of any unit.
constexpr unsigned kBudgetMax = 999'999;

}  // namespace

std::optional<std::chrono::seconds> parse_budget(const std::string& text) {
  unsigned value = 0;
  auto const* const end = text.data() + text.size();
  auto const [unit, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || end - unit != 1 || value > kBudgetMax) return std::nullopt;
  if (*unit == 's') return std::chrono::seconds(value);
  if (*unit == 'm') return std::chrono::minutes(value);
  if (*unit == 'h') return std::chrono::hours(value);
  return std::nullopt;
}

void LoadBudget::add(std::size_t cell, double seconds, std::optional<double> load_event_ms) {
  ++cells_[cell].loads;
  cells_[cell].seconds += seconds;
  if (load_event_ms) cells_[cell].load_events_ms.push_back(*load_event_ms);
}

double LoadBudget::seconds_of(std::size_t cell) const {
  const Cell& known = cells_[cell];
  return known.loads == 0 ? 0 : known.seconds / static_cast<double>(known.loads);
}

std::vector<AllotmentArm> LoadBudget::arms() const {
  std::vector<AllotmentArm> arms;
  for (std::size_t cell = 0; cell < cells_.size(); ++cell) {
    // A load of no length would be free.
    arms.push_back({.deviation = standard_deviation(cells_[cell].load_events_ms),
                    .cost = std::max(seconds_of(cell), 1e-6)});
  }
  return arms;
}

std::vector<std::size_t> LoadBudget::counted() const {
  std::vector<std::size_t> counted;
  for (const Cell& cell : cells_) counted.push_back(cell.load_events_ms.size());
  return counted;
}

std::vector<PlannedLoad> LoadBudget::rest(double seconds_left, unsigned first_run,
                                          std::uint64_t seed) const {
  auto const arms = this->arms();
  auto made = counted();
  auto const least = std::ranges::max(made);
  // Cells whose loads failed are as if they had been measured as often as the others.
  std::ranges::fill(made, least);
  auto const allotted = allot(arms, cost_of(arms, made) + seconds_left, least);
  if (!allotted) return {};
  std::vector<std::size_t> more;
  for (std::size_t const loads : *allotted) more.push_back(loads - least);
  // rounds_of() has as many rounds as the arm with the fewest loads; those without any do not
  // count.
  std::vector<PlannedLoad> plan;
  std::size_t next_run = first_run;
  for (const MeasuringRound& round : rounds_of(more, seed)) {
    for (auto const& [cell, run] : steps_of(round, next_run)) {
      plan.push_back({.cell = cell, .run = static_cast<unsigned>(run)});
      next_run = std::max(next_run, run + 1);
    }
  }
  return plan;
}

NoMoreLoads LoadBudget::why_none(double seconds_left) const {
  if (std::ranges::max(counted()) < 2) return NoMoreLoads::kNothingKnown;
  auto const arms = this->arms();
  if (seconds_left < std::ranges::min(arms, {}, &AllotmentArm::cost).cost) {
    return NoMoreLoads::kTimeIsUp;
  }
  bool const varies =
      std::ranges::any_of(arms, [](const AllotmentArm& arm) { return arm.deviation > 0; });
  return varies ? NoMoreLoads::kTooLong : NoMoreLoads::kAllAlike;
}

std::optional<AllotmentGain> LoadBudget::standard_errors() const {
  auto const made = counted();
  if (std::ranges::min(made) < 2) return std::nullopt;
  auto const arms = this->arms();
  return AllotmentGain{.allotted = sum_of_standard_errors(arms, made),
                       .even = standard_errors_of_even_split(arms, cost_of(arms, made))};
}

}  // namespace reprise
