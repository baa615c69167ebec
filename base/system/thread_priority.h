#pragma once

// Which threads come first on a machine that has other work, and how far the system permits it.

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <expected>
#include <optional>
#include <string_view>
#include <system_error>

namespace reprise {

/// What a thread has got. In a report: "ordinary", "short slice", "real-time".
enum class Priority {
  kOrdinary,
  /// Ordinary, with the shortest time slice: it preempts others soon after it wakes. Linux 6.12
  /// and later (sched_setattr(2), EEVDF); no right is needed.
  kShortSlice,
  /// SCHED_FIFO (sched(7)): it runs whenever it wants to.
  kRealtime,
};
std::string_view to_string(Priority priority);

enum class WantedPriority {
  kBest,      ///< the best that the system permits
  kOrdinary,  ///< none
  kRealtime,  ///< real-time or an error
};

/// Raises one thread above the other programs, and keeps it from freezing the machine: a real-time
/// thread that used more than kBusyShareMax of the time is an ordinary one until it uses less than
/// half of that. Belongs to its thread.
class ThreadPriority {
 public:
  static constexpr double kBusyShareMax = 0.7;
  /// Over which the share is taken.
  static constexpr std::chrono::nanoseconds kWindow = std::chrono::milliseconds(50);

  /// Changes the calling thread. `level` is that of SCHED_FIFO, from 1. Errors, for kRealtime
  /// alone: EPERM without root, CAP_SYS_NICE or RLIMIT_RTPRIO.
  static std::expected<ThreadPriority, std::error_code> take(WantedPriority wanted, int level);

  /// What take() got, whatever watch() made of it since.
  Priority got() const { return got_; }

  /// To be called often while the thread has work. `now` by CLOCK_MONOTONIC, `used` by
  /// CLOCK_THREAD_CPUTIME_ID.
  void watch(std::chrono::nanoseconds now, std::chrono::nanoseconds used);
  /// Reads both clocks, once a window.
  void watch(std::chrono::nanoseconds now);
  /// Makes the calling thread what it was before take(), so that what it starts later does not
  /// inherit the priority. A thread that ends need not call it.
  void give_back();
  /// How many times it was made an ordinary thread.
  std::uint64_t times_lowered() const { return times_lowered_; }

 private:
  /// What a thread had.
  struct Former {
    int policy, level, nice;
  };
  ThreadPriority(Priority got, int level, std::optional<Former> former = std::nullopt)
      : got_(got), level_(level), former_(former) {}
  void set_lowered(bool lowered);

  Priority got_;
  int level_;
  std::optional<Former> former_;  ///< nothing: take() changed nothing
  bool lowered_ = false;
  std::uint64_t times_lowered_ = 0;
  std::chrono::nanoseconds window_start_{0};
  std::chrono::nanoseconds used_at_start_{0};
};

/// Puts this process and what it starts before ordinary programs, by nice(2) and, where the kernel
/// groups processes by session, by that group's weight (sched(7), autogroup). Returns the nice
/// value that it has then: kFavouredNice, or the lowest that RLIMIT_NICE permits; none if it is not
/// below 0, or the session kept its weight. Can wait for that for half a second: without
/// CAP_SYS_ADMIN the kernel takes one weight in 100 ms, of all sessions. Async-signal-safe.
std::optional<int> favour_process();
inline constexpr int kFavouredNice = -19;

/// Puts the calling thread behind all others, for work that nobody waits for: nice 19.
void give_way();

}  // namespace reprise
