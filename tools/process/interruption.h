#pragma once

#include <signal.h>

namespace reprise {

/// While it lives, the first SIGINT, SIGTERM or SIGHUP is only noted, so that a command that writes
/// a file can end in order; the second one ends the process. The thread that makes it is the one
/// that they interrupt (process_signals.h). One inside another changes nothing. A signal that was
/// ignored before, as SIGHUP under nohup(1), stays ignored.
class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  static bool was_asked();
  /// Of a command that ended for it: 128 and the signal's number.
  static int exit_code();

 private:
  bool is_outermost_;
  sigset_t mask_before_;
};

}  // namespace reprise
