#pragma once

#include <atomic>
#include <thread>
#include <vector>

namespace reprise {

/// Keeps the processors from sleeping while it lives: on each that this process may use, a thread
/// that runs when nothing else wants to (SCHED_IDLE, sched(7)). A processor of a virtual machine
/// wakes 30 to 100 us late, at each packet that comes; measured with a link of 0 ms, 0.15 ms a
/// round trip, against 0.05. It costs all of their time, of the host's and of a container's quota
/// too.
class AwakeProcessors {
 public:
  /// Where a thread is refused its place or its policy it ends, and its processor sleeps.
  AwakeProcessors();
  ~AwakeProcessors();
  AwakeProcessors(const AwakeProcessors&) = delete;
  AwakeProcessors& operator=(const AwakeProcessors&) = delete;

 private:
  void run(int processor) const;

  std::atomic<bool> stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace reprise
