#include "shaper/packet/awake_processors.h"

#include <pthread.h>
#include <sched.h>

namespace reprise {
namespace {

/// Leaves what it can to the other thread of the same core.
void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

AwakeProcessors::AwakeProcessors() {
  cpu_set_t usable;
  CPU_ZERO(&usable);
  ::sched_getaffinity(0, sizeof usable, &usable);
  for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
    if (CPU_ISSET(processor, &usable)) threads_.emplace_back([this, processor] { run(processor); });
  }
}

AwakeProcessors::~AwakeProcessors() {
  stopping_ = true;
  for (std::thread& thread : threads_) thread.join();
}

void AwakeProcessors::run(int processor) const {
  sched_param const parameters{};
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(processor, &one);
  // First the policy: without it the thread would take a processor from others.
  if (::pthread_setschedparam(::pthread_self(), SCHED_IDLE, &parameters) != 0 ||
      ::pthread_setaffinity_np(::pthread_self(), sizeof one, &one) != 0) {
    return;
  }
  while (!stopping_.load(std::memory_order_relaxed)) relax();
}

}  // namespace reprise
