#pragma once

#include <time.h>

#include <chrono>

namespace reprise {

/// The time of any clock of clock_gettime(2).
inline std::chrono::nanoseconds read_clock(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace reprise
