#include "analysis/disturbance.h"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <limits>

#include "base/system/thread_priority.h"
#include "base/text/counted.h"

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

/// "the processor", "the 2 processors".
std::string processors_text(unsigned processors) {
  return processors == 1 ? "the processor" : "the " + counted(processors, "processor");
}

/// Of `processors`, if others used `ms` of their time: whether that is too much.
std::optional<double> disturbing_share(double ms, double span_ms, double processors) {
  auto const capacity = span_ms * processors;
  auto const share = capacity > 0 ? std::clamp(ms / capacity, 0.0, 1.0) : 0;
  bool const disturbs = share > kOthersShareMax && processors * (1 - share) < kProcessorsEnough;
  return disturbs ? std::optional(share) : std::nullopt;
}

void add_quota(const MachineActivity& machine, std::vector<Disturbance>& out) {
  auto const throttled = machine.throttled_ms.value_or(0);
  // That is a sum over processors.
  auto const ms = machine.span_ms > 0 ? std::min(throttled, machine.span_ms) : throttled;
  auto text = sentence("a processor quota stopped the load for %.0f ms", ms);
  if (machine.quota) {
    text += sentence(" (quota: %g processor%s)", *machine.quota, *machine.quota == 1 ? "" : "s");
  }
  bool const is_pages_own = machine.quota_ms && machine.quota.value_or(0) >= kQuotaMin;
  if (ms > 0) {
    out.push_back(
        {.cost_ms = is_pages_own ? 0 : ms, .text = text, .by_page_ms = is_pages_own ? ms : 0});
  }
  if (!is_pages_own || *machine.quota >= machine.processors) return;
  auto const others_ms = *machine.quota_ms - machine.own_ms;
  if (auto const share = disturbing_share(others_ms, machine.span_ms, *machine.quota)) {
    out.push_back({kUnknownCost, sentence("other programs used %.0f %% of the processor quota (%g)",
                                          *share * 100, *machine.quota)});
  }
}

/// What programs used that the load had no priority over, of the time of its processors.
double competing_ms(const MachineActivity& machine) {
  if (machine.own_nice > kFavouredNice) return machine.busy_ms - machine.own_ms;
  if (!machine.group_ms) return 0;
  return machine.busy_ms - std::max(*machine.group_ms, machine.own_ms);
}

void add_machine(const MachineActivity& machine, std::vector<Disturbance>& out) {
  if (machine.steal_ms) {
    auto const ms = *machine.steal_ms;
    out.push_back({.cost_ms = ms,
                   .text = sentence("the host took %.0f ms of processor time (steal)", ms),
                   .by_host = true,
                   .busy_ms = machine.busy_ms});
  }
  add_quota(machine, out);
  if (auto const ms = machine.paused_ms; ms > 0) {
    out.push_back(
        {.cost_ms = ms, .text = sentence("the load was paused for %.0f ms", ms), .by_host = true});
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
  if (auto const share =
          disturbing_share(competing_ms(machine), machine.span_ms, machine.processors)) {
    out.push_back({kUnknownCost, sentence("other programs used %.0f %% of %s", *share * 100,
                                          processors_text(machine.processors).c_str())});
  }
}

std::string lateness_text(double ms, const PageLoad& page) {
  auto text = sentence("late packets can have cost up to %.1f ms", ms);
  if (auto const whole = page.load_event_ms.value_or(0); whole > 0) {
    text += sentence(" (%.1f %% of the load event)", 100 * ms / whole);
  }
  return text;
}

/// What the link missed of its settings when it was checked, as a share of the load.
void add_deviations(const LinkSummary& link, const PageLoad& page, std::vector<Disturbance>& out) {
  auto const span_ms = page.machine ? page.machine->span_ms : 0;
  auto const whole = page.load_event_ms.value_or(span_ms);
  for (const LinkSummary::Deviation& each : link.deviations) {
    out.push_back({.cost_ms = whole > 0 ? each.share * whole : kUnknownCost, .text = each.text});
  }
}

}  // namespace

std::vector<std::string> unmeasured_doubts(const LinkSummary& link) {
  auto out = link.warnings;
  std::erase_if(out, [&](const std::string& each) {
    return std::ranges::find(link.deviations, each, &LinkSummary::Deviation::text) !=
           link.deviations.end();
  });
  return out;
}

std::vector<Disturbance> disturbances_of(const PageLoad& page, const ReplaySummary* replay) {
  std::vector<Disturbance> out;
  auto const* const link = replay != nullptr && replay->link ? &*replay->link : nullptr;
  // Without the load's own, what the link was used for.
  auto const late_ms =
      page.lateness_ms || link == nullptr ? page.lateness_ms : link->lateness_cost_ms;
  if (late_ms) {
    out.push_back({.cost_ms = *late_ms,
                   .text = lateness_text(*late_ms, page),
                   .by_host = true,
                   .by_quota = true});
  }
  if (link != nullptr) add_deviations(*link, page, out);
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
  double usual_ms = 0, by_page_ms = 0;
  for (const Disturbance& each : all) {
    by_page_ms += each.by_page_ms;
    if (each.busy_ms <= 0) continue;
    usual_ms = std::min(each.cost_ms, 2 * usual_steal * (each.cost_ms + each.busy_ms));
  }
  auto const cost = [=](const Disturbance& each) {
    return each.cost_ms - (each.by_host ? usual_ms : 0) - (each.by_quota ? by_page_ms : 0);
  };
  auto const worst = std::ranges::max_element(all, {}, cost);
  if (worst == all.end() || cost(*worst) <= least_effect_ms) return std::nullopt;
  return *worst;
}

std::string reason_to_skip(const PageLoad& page, const ReplaySummary* replay,
                           double least_effect_ms, double usual_steal) {
  auto const found = disturbed(disturbances_of(page, replay), least_effect_ms, usual_steal);
  if (found) return found->text;
  if (replay == nullptr || !replay->link) return {};
  auto const doubts = unmeasured_doubts(*replay->link);
  return doubts.empty() ? "" : doubts.front();
}

}  // namespace reprise
