#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "shaper/link_deviation.h"
#include "shaper/packet/link_runner.h"
#include "shaper/packet/network/network.h"
#include "shaper/packet/network/shell_error.h"
#include "shaper/profile.h"

namespace reprise {

/// The measurements of the self-check in one direction.
struct DirectionCheck {
  std::uint32_t packets_sent = 0;
  std::uint32_t packets_come = 0;
  double expected_loss = 0;            ///< share of packets, in the long run
  std::optional<double> expected_bps;  ///< of IP bytes; empty: unlimited, or not constant
  std::optional<double> measured_bps;  ///< empty if too few arrived
  std::optional<double> expected_ms;   ///< one small packet on the idle link; empty: not constant
  std::optional<double> measured_ms;   ///< the smallest of a few
};

/// Whether the link has its settings.
struct SelfCheck {
  DirectionCheck down;
  DirectionCheck up;
  LatenessHistogram::Summary lateness;
  double took_ms = 0;
  std::vector<LinkDeviation> deviations;  ///< beyond the tolerance
  /// Why it was skipped, if it was: a delay or a rate that does not fit into its time.
  std::string skipped;
};

/// Sends probes both ways through a temporary link over `devices`, with the probe sockets of
/// `network`, as plan_self_check() says: a few small packets one by one for the delay, then one
/// train of packets as long as rate and queue allow, for the rate; all of them count for the loss.
/// Traces, outages, bursts and rates that a sender of datagrams cannot fill (over 1 Gbit/s) are
/// measured but not judged. Meanwhile no link may run on `devices`, and nothing else may send.
/// Errors: LinkRunner's.
ShellResult<SelfCheck> check_link(LinkDevices& devices, const BuiltNetwork& network,
                                  const LinkProfile& profile, const LinkRunnerOptions& options);

/// Whether to keep the processors awake, after self-checks `asleep` without and `awake` with that:
/// if it makes packets much less late, or if nothing was measured.
bool should_keep_awake(const SelfCheck& asleep, const SelfCheck& awake);

}  // namespace reprise
