#pragma once

#include <signal.h>

namespace reprise {

/// While it lives, the first SIGINT, SIGTERM or SIGHUP is only recorded, so that a command that
/// writes a file can end in order; the second one ends the process. They interrupt the thread that
/// created it (process_signals.h). A nested object has no effect. A signal that was ignored before,
/// such as SIGHUP under nohup(1), stays ignored.
class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  static bool was_asked();
  /// The exit code of a command that ended for it: 128 plus the signal's number.
  static int exit_code();

 private:
  bool is_outermost_;
  sigset_t mask_before_;
};

}  // namespace reprise
