#include "base/system/thread_priority.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "base/system/clock.h"

namespace reprise {
namespace {

/// The shortest slice that the kernel takes, in ns.
constexpr std::uint64_t kSliceNs = 100'000;
constexpr int kThreadNice = -10;

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

/// The weight of this session's processes beside those of others; true where there are no groups.
bool favour_group(std::string_view nice) {
  int const file = ::open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC);
  if (file < 0) return errno == ENOENT;
  bool const done = ::write(file, nice.data(), nice.size()) == static_cast<ssize_t>(nice.size());
  ::close(file);
  return done;
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
  int const error = set_realtime(level);
  if (error == 0) return ThreadPriority(Priority::kRealtime, level);
  if (wanted == WantedPriority::kRealtime) {
    return std::unexpected(std::error_code(error, std::generic_category()));
  }
  static_cast<void>(::setpriority(PRIO_PROCESS, 0, kThreadNice));  // where RLIMIT_NICE permits it
  return ThreadPriority(shorten_slice() ? Priority::kShortSlice : Priority::kOrdinary, level);
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
  if (::setpriority(PRIO_PROCESS, 0, kFavouredNice) != 0) return std::nullopt;
  if (!favour_group("-19")) return std::nullopt;
  return kFavouredNice;
}

void give_way() {
  // Linux changes the thread alone, and lowering is always permitted.
  constexpr int kLastNice = 19;
  static_cast<void>(::setpriority(PRIO_PROCESS, 0, kLastNice));
}

}  // namespace reprise
