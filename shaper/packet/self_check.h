#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "shaper/packet/link_runner.h"
#include "shaper/packet/network/network.h"
#include "shaper/packet/network/shell_error.h"
#include "shaper/profile.h"

namespace reprise {

/// What the self-check measured in one direction.
struct DirectionCheck {
  std::uint32_t packets_sent = 0;
  std::uint32_t packets_come = 0;
  double expected_loss = 0;            ///< share of packets, in the long run
  std::optional<double> expected_bps;  ///< of IP bytes; empty: unlimited, or not one number
  std::optional<double> measured_bps;  ///< empty when too few came
  std::optional<double> expected_ms;   ///< one small packet on the idle link; empty: not one number
  std::optional<double> measured_ms;   ///< the least of a few
};

/// Whether the link that was asked for is the link that there is.
struct SelfCheck {
  DirectionCheck down;
  DirectionCheck up;
  double took_ms = 0;
  /// Sentences about what is off by more than the tolerance.
  std::vector<std::string> deviations;
  /// Why it was left out, if it was: delays that do not fit into its time.
  std::string skipped;
};

/// The time that a self-check takes at most.
inline constexpr std::chrono::milliseconds kSelfCheckMax{1900};

/// Sends probes both ways through a link of its own over `devices`, by the probes of `network`: a
/// few small packets one after the other for the delay, then one train of packets as long as rate
/// and queue allow, for the rate; all of them count for the loss. Traces, outages, bursts and rates
/// that a sender of datagrams cannot fill (over 1 Gbit/s) are measured and not judged. No link may
/// run on `devices` meanwhile, and nothing else may send. Errors: LinkRunner's.
ShellResult<SelfCheck> check_link(LinkDevices& devices, const BuiltNetwork& network,
                                  const LinkProfile& profile, const LinkRunnerOptions& options);

}  // namespace reprise
