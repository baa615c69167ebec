#pragma once

// The processor time of one process, as it was read now and then. Pure.

#include <chrono>
#include <vector>

namespace reprise {

class ProcessorTime {
 public:
  using Time = std::chrono::nanoseconds;

  /// That it had used so much at that time, which is later than all before. A process that has
  /// ended, and so has less than before, is ignored.
  void add(Time at, Time used);

  /// What it used between two moments, as if evenly between two readings; nothing before the first
  /// and after the last one.
  Time between(Time from, Time until) const { return used_at(until) - used_at(from); }

 private:
  struct Reading {
    Time at, used;
  };
  Time used_at(Time at) const;

  std::vector<Reading> readings_;
};

}  // namespace reprise
