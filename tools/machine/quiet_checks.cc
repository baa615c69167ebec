#include "tools/machine/quiet_checks.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "analysis/disturbance.h"
#include "base/system/control_groups.h"
#include "base/text/formatted.h"

namespace reprise {
namespace {

/// That of the threads of a link (shaper/packet/link_runner.cc).
constexpr int kLevel = 10;

/// Kinds of priority. The child ends with its own, and as often this as its nice value is below 0.
constexpr int kPriorities = 3;

int take_priority() {
  auto const taken = ThreadPriority::take(WantedPriority::kBest, kLevel);
  auto const nice = favour_process();
  return (taken ? static_cast<int>(taken->got()) : 0) +
         kPriorities * std::max(0, -nice.value_or(0));
}

}  // namespace

Check priority_check(Priority threads, std::optional<int> nice, bool is_weighed) {
  Check check{.name = "priority"};
  check.ok = threads == Priority::kRealtime && nice.value_or(0) <= kFavouredNice;
  auto const browsers = nice ? "nice " + std::to_string(*nice) : std::string("no priority");
  auto const* const slice = threads == Priority::kShortSlice ? "a short time slice" : "no priority";
  check.detail = "links and replays get " +
                 std::string(threads == Priority::kRealtime ? "real-time priority" : slice) +
                 ", browsers " + browsers;
  if (check.ok) {
    if (is_weighed) check.detail += ", over the programs of their control group";
    return check;
  }
  check.detail += ": other programs disturb loads";
  check.fix =
      "give CAP_SYS_NICE (docker run --cap-add SYS_NICE; of a service, "
      "AmbientCapabilities=CAP_SYS_NICE), or ulimit -r 10 and ulimit -e 39 "
      "(/etc/security/limits.conf: rtprio 10, nice -19)";
  return check;
}

Check check_priority() {
  auto const child = ::fork();
  if (child == 0) {
    ::setsid();  // the kernel weighs sessions: that of the user keeps its weight
    ::_exit(take_priority());
  }
  int status = 0;
  while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  int const code = child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  auto const nice = code >= kPriorities ? std::optional(-(code / kPriorities)) : std::nullopt;
  return priority_check(static_cast<Priority>(code % kPriorities), nice,
                        ControlGroups::read().is_weighed);
}

Check quota_check(std::optional<double> quota) {
  Check check{.name = "quota", .ok = true, .detail = "the processors have no quota"};
  if (!quota) return check;
  check.ok = *quota >= kQuotaMin;
  check.detail = formatted("the control group has a quota of %g processors", *quota);
  if (check.ok) return check;
  check.detail += ": it stops every page, and disturbs its load";
  check.fix = formatted("give %g or more: docker run --cpus; of a service, CPUQuota=", kQuotaMin);
  return check;
}

Check check_quota() {
  return quota_check(ControlGroups::read().quota);
}

}  // namespace reprise
