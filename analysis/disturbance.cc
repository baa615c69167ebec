#include "analysis/disturbance.h"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <limits>

#include "base/system/thread_priority.h"

namespace reprise {
namespace {

constexpr double kUnknownCost = std::numeric_limits<double>::infinity();

__attribute__((format(printf, 1, 2))) std::string sentence(const char* format, ...) {
  char text[160];
  va_list values;
  va_start(values, format);
  std::vsnprintf(text, sizeof text, format, values);
  va_end(values);
  return text;
}

void add_machine(const MachineActivity& machine, std::vector<Disturbance>& out) {
  if (machine.steal_ms) {
    auto const ms = *machine.steal_ms;
    out.push_back({.cost_ms = ms,
                   .text = sentence("the host took %.0f ms of processor time (steal)", ms),
                   .by_host = true,
                   .busy_ms = machine.busy_ms});
  }
  if (auto const ms = machine.throttled_ms.value_or(0); ms > 0) {
    out.push_back({ms, sentence("a processor quota stopped the load for %.0f ms", ms)});
  }
  if (auto const ms = machine.suspended_ms; ms > 0) {
    out.push_back({ms, sentence("the machine slept for %.1f s", ms / 1000)});
  }
  if (auto const ms = machine.clock_step_ms; std::abs(ms) > kClockStepMaxMs) {
    out.push_back({kUnknownCost, sentence("the clock was set by %+.1f s", ms / 1000)});
  }
  if (machine.stopped) {
    out.push_back({kUnknownCost, "a process of the load was stopped (SIGSTOP)"});
  }
  bool const favoured = machine.own_nice <= kFavouredNice;
  if (auto const share = machine.others_share(); share > kOthersShareMax && !favoured) {
    out.push_back(
        {kUnknownCost, sentence("other programs used %.0f %% of the processors", share * 100)});
  }
}

}  // namespace

std::vector<Disturbance> disturbances_of(const PageLoad& page, const ReplaySummary* replay) {
  std::vector<Disturbance> out;
  if (replay != nullptr && replay->link && replay->link->lateness_cost_ms) {
    auto const ms = *replay->link->lateness_cost_ms;
    out.push_back({.cost_ms = ms,
                   .text = sentence("late packets can have cost up to %.1f ms", ms),
                   .by_host = true});
  }
  if (page.machine) add_machine(*page.machine, out);
  return out;
}

void UsualSteal::add(const std::vector<Disturbance>& of_load) {
  for (const Disturbance& each : of_load) {
    if (each.busy_ms <= 0) continue;
    steal_ms_ += each.cost_ms;
    wanted_ms_ += each.cost_ms + each.busy_ms;
  }
}

double UsualSteal::share() const {
  return wanted_ms_ > 0 ? std::min(steal_ms_ / wanted_ms_, kShareMax) : 0;
}

std::optional<Disturbance> disturbed(const std::vector<Disturbance>& all, double least_effect_ms,
                                     double usual_steal) {
  double usual_ms = 0;
  for (const Disturbance& each : all) {
    if (each.busy_ms <= 0) continue;
    usual_ms = std::min(each.cost_ms, 2 * usual_steal * (each.cost_ms + each.busy_ms));
  }
  auto const cost = [usual_ms](const Disturbance& each) {
    return each.cost_ms - (each.by_host ? usual_ms : 0);
  };
  auto const worst = std::ranges::max_element(all, {}, cost);
  if (worst == all.end() || cost(*worst) <= least_effect_ms) return std::nullopt;
  return *worst;
}

std::string reason_to_skip(const PageLoad& page, const ReplaySummary* replay,
                           double least_effect_ms, double usual_steal) {
  auto const found = disturbed(disturbances_of(page, replay), least_effect_ms, usual_steal);
  if (found) return found->text;
  if (replay == nullptr || !replay->link || replay->link->warnings.empty()) return {};
  return replay->link->warnings.front();
}

}  // namespace reprise
