#include "tools/process/interrupted_process.h"

#include <chrono>

#include "tools/process/interruption.h"

namespace reprise {
namespace {

/// To end a command that it runs itself, and to complete a large file.
constexpr std::chrono::seconds kEndTime{30};

}  // namespace

std::optional<int> wait_or_interrupt(GuardedProcess& process, GuardedProcess::TimePoint deadline) {
  auto const status = process.wait_until(deadline, Interruption::was_asked);
  if (status || !Interruption::was_asked()) return status;
  process.terminate();
  return process.wait_until(std::chrono::steady_clock::now() + kEndTime);
}

}  // namespace reprise
