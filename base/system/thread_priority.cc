#include "base/system/thread_priority.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <string_view>

#include "base/system/clock.h"

namespace reprise {
namespace {

/// The shortest slice that the kernel takes, in ns.
constexpr std::uint64_t kSliceNs = 100'000;
constexpr int kThreadNice = -10;
/// Of writes to the session's weight.
constexpr int kWeightTries = 25;
constexpr int kWeightPauseMs = 20;

/// As the kernel's struct sched_attr, which glibc 2.36 lacks.
struct SchedulingAttributes {
  std::uint32_t size = sizeof(SchedulingAttributes);
  std::uint32_t policy = SCHED_OTHER;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime_ns = 0;
  std::uint64_t deadline_ns = 0;
  std::uint64_t period_ns = 0;
};

/// Older kernels take the slice and ignore it, so it is read back.
bool shorten_slice() {
  SchedulingAttributes const wanted{.nice = ::getpriority(PRIO_PROCESS, 0), .runtime_ns = kSliceNs};
  SchedulingAttributes got;
  return ::syscall(SYS_sched_setattr, 0, &wanted, 0) == 0 &&
         ::syscall(SYS_sched_getattr, 0, &got, sizeof got, 0) == 0 && got.runtime_ns == kSliceNs;
}

int set_realtime(int level) {
  sched_param const parameters{.sched_priority = level};
  return ::pthread_setschedparam(::pthread_self(), SCHED_FIFO, &parameters);
}

/// The lowest nice value that RLIMIT_NICE permits (getrlimit(2)).
int lowest_nice() {
  constexpr rlim_t kAll = 20 - kFavouredNice;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NICE, &limit) != 0) return 0;
  return 20 - static_cast<int>(std::min(limit.rlim_cur, kAll));
}

/// Lowers the nice value of the calling thread to this one, or as far as the system permits.
void lower_nice(int wanted) {
  int const now = ::getpriority(PRIO_PROCESS, 0);
  if (now <= wanted || ::setpriority(PRIO_PROCESS, 0, wanted) == 0) return;
  int const permitted = std::max(wanted, lowest_nice());
  if (permitted < now) static_cast<void>(::setpriority(PRIO_PROCESS, 0, permitted));
}

/// The weight of this session's processes beside those of others; true where there are no groups.
bool favour_group(int nice) {
  int const file = ::open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC);
  if (file < 0) return errno == ENOENT;
  // Without snprintf(3), which is not async-signal-safe, and without a leading 0: it means octal.
  char text[3] = {'-'};
  std::size_t size = 1;
  if (nice <= -10) text[size++] = static_cast<char>('0' + -nice / 10);
  text[size++] = static_cast<char>('0' + -nice % 10);
  bool done = false;
  for (int tries = 0; tries < kWeightTries; ++tries) {
    done = ::write(file, text, size) == static_cast<ssize_t>(size);
    if (done || errno != EAGAIN) break;
    ::poll(nullptr, 0, kWeightPauseMs);
  }
  int const error = errno;
  ::close(file);
  return done || error == EINVAL;  // grouping is off
}

}  // namespace

std::string_view to_string(Priority priority) {
  switch (priority) {
    case Priority::kOrdinary:
      break;
    case Priority::kShortSlice:
      return "short slice";
    case Priority::kRealtime:
      return "real-time";
  }
  return "ordinary";
}

std::expected<ThreadPriority, std::error_code> ThreadPriority::take(WantedPriority wanted,
                                                                    int level) {
  if (wanted == WantedPriority::kOrdinary) return ThreadPriority(Priority::kOrdinary, level);
  sched_param parameters{};
  ::sched_getparam(0, &parameters);
  Former const former{.policy = ::sched_getscheduler(0),
                      .level = parameters.sched_priority,
                      .nice = ::getpriority(PRIO_PROCESS, 0)};
  int const error = set_realtime(level);
  if (error == 0) return ThreadPriority(Priority::kRealtime, level, former);
  if (wanted == WantedPriority::kRealtime) {
    return std::unexpected(std::error_code(error, std::generic_category()));
  }
  lower_nice(kThreadNice);
  auto const got = shorten_slice() ? Priority::kShortSlice : Priority::kOrdinary;
  return ThreadPriority(got, level, former);
}

void ThreadPriority::give_back() {
  if (!former_) return;
  if (got_ != Priority::kRealtime) {
    SchedulingAttributes const usual_slice{.nice = former_->nice};
    static_cast<void>(::syscall(SYS_sched_setattr, 0, &usual_slice, 0));
    static_cast<void>(::setpriority(PRIO_PROCESS, 0, former_->nice));
  }
  sched_param const parameters{.sched_priority = former_->level};
  static_cast<void>(::pthread_setschedparam(::pthread_self(), former_->policy, &parameters));
  former_.reset();
  got_ = Priority::kOrdinary;
}

void ThreadPriority::watch(std::chrono::nanoseconds now) {
  if (got_ == Priority::kRealtime && now - window_start_ >= kWindow)
    watch(now, read_clock(CLOCK_THREAD_CPUTIME_ID));
}

void ThreadPriority::watch(std::chrono::nanoseconds now, std::chrono::nanoseconds used) {
  auto const passed = now - window_start_;
  if (got_ != Priority::kRealtime || passed < kWindow) return;
  auto const share =
      static_cast<double>((used - used_at_start_).count()) / static_cast<double>(passed.count());
  window_start_ = now;
  used_at_start_ = used;
  if (!lowered_ && share > kBusyShareMax) set_lowered(true);
  if (lowered_ && share < kBusyShareMax / 2) set_lowered(false);
}

void ThreadPriority::set_lowered(bool lowered) {
  sched_param const ordinary{};
  int const error = lowered ? ::pthread_setschedparam(::pthread_self(), SCHED_OTHER, &ordinary)
                            : set_realtime(level_);
  if (error != 0) return;
  lowered_ = lowered;
  if (lowered) ++times_lowered_;
}

std::optional<int> favour_process() {
  lower_nice(kFavouredNice);
  int const nice = ::getpriority(PRIO_PROCESS, 0);
  if (nice >= 0 || !favour_group(nice)) return std::nullopt;
  return nice;
}

void give_way() {
  // Linux changes the thread alone, and lowering is always permitted.
  constexpr int kLastNice = 19;
  static_cast<void>(::setpriority(PRIO_PROCESS, 0, kLastNice));
}

}  // namespace reprise
