#include "tools/process/interruption.h"

#include <array>
#include <csignal>
#include <utility>

#include "tools/process/process_signals.h"

namespace reprise {
namespace {

constexpr std::array<int, 3> kSignals = {SIGINT, SIGTERM, SIGHUP};

volatile std::sig_atomic_t noted_signal = 0;
bool exists = false;

extern "C" void note_signal(int number) {
  noted_signal = number;
  for (int const each : kSignals) std::signal(each, SIG_DFL);
}

}  // namespace

Interruption::Interruption() : is_outermost_(!std::exchange(exists, true)) {
  if (!is_outermost_) return;
  noted_signal = 0;
  for (int const each : kSignals) {
    if (std::signal(each, note_signal) == SIG_IGN) std::signal(each, SIG_IGN);
  }
  ::pthread_sigmask(SIG_SETMASK, &signal_mask_at_start(), &mask_before_);
}

Interruption::~Interruption() {
  if (!is_outermost_) return;
  exists = false;
  ::pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
  for (int const each : kSignals) {
    if (std::signal(each, SIG_DFL) == SIG_IGN) std::signal(each, SIG_IGN);
  }
}

bool Interruption::was_asked() {
  return noted_signal != 0;
}

int Interruption::exit_code() {
  return 128 + noted_signal;
}

}  // namespace reprise
