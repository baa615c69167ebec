#include "tools/load/load_exit.h"

#include "tools/commands.h"
#include "tools/process/interruption.h"

namespace reprise {

int exit_code_of(const MeasuredLoad& load) {
  switch (load.end) {
    case LoadEnd::kLoaded:
    case LoadEnd::kNotLoaded:
      return load.exit_code;
    case LoadEnd::kNotServed:
      return load.exit_code == kExitDone ? int{kExitFailed} : load.exit_code;
    case LoadEnd::kInterrupted:
      return Interruption::exit_code();
    case LoadEnd::kNotStarted:
      break;
  }
  return kExitFailed;
}

bool is_hopeless(const MeasuredLoad& load) {
  auto const code = exit_code_of(load);
  return !load.page || (code != kExitDone && code != kExitGate);
}

}  // namespace reprise
