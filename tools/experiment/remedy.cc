#include "tools/experiment/remedy.h"

#include <algorithm>
#include <iterator>

namespace reprise {
namespace {

struct Remedy {
  std::string_view words;  ///< that its reasons have
  const char* text;
};

/// The first match counts: other programs can use up a quota, against which no priority helps, and
/// a quota "stopped the load", too.
constexpr Remedy kRemedies[] = {
    {"of the processor quota",
     "Let them end first, or give the container or service a larger processor quota, or none"},
    {"other programs",
     "Let them end first, or give the loads priority over them (see the line 'priority' of "
     "`reprise doctor`); if they are in other containers or services, give the loads processors of "
     "their own (docker run --cpuset-cpus; of a service, AllowedCPUs=)"},
    {"quota",
     "Give the container or service a larger processor quota, or none (see the line 'quota' of "
     "`reprise doctor`): waiting does not help"},
    {"(steal)",
     "Wait until the host is quieter; on a virtual machine, see the line 'awake' of `reprise "
     "doctor`"},
    {"late packets",
     "Give the link real-time priority (see the line 'priority' of `reprise doctor`), or wait "
     "until the machine is quieter"},
    {"slept", "Keep the machine from sleeping: systemd-inhibit reprise ..."},
    {"clock", "Let the time service set the clock first, or stop it meanwhile"},
    {"stopped", "Stop no process of the loads (SIGSTOP, debuggers) meanwhile"},
    {"paused", "Pause neither the container nor the virtual machine meanwhile"},
};

}  // namespace

std::string remedy_text(std::string_view reason) {
  const auto* const found = std::ranges::find_if(kRemedies, [&](const Remedy& each) {
    return reason.find(each.words) != std::string_view::npos;
  });
  return found == std::end(kRemedies) ? "Wait until the machine is quieter" : found->text;
}

}  // namespace reprise
