#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "shaper/link_deviation.h"
#include "shaper/packet/network/shell_error.h"
#include "shaper/profile.h"

namespace reprise {

/// The time of an exchange by the model, in simulated time, and measured through a shell.
struct TimeCheck {
  double expected_ms = 0;
  double measured_ms = 0;
};

/// Whether this machine is fast enough for the model. The model's likeness to TCP is a matter for
/// tests/shaper/stream/stream_against_packet.cc, which compares the two.
struct StreamCheck {
  TimeCheck connected;                  ///< from connect(2) to an answer of one byte
  std::optional<TimeCheck> round_trip;  ///< the same again on the connection
  std::optional<TimeCheck> transfer;    ///< an answer of transfer_bytes
  std::uint64_t transfer_bytes = 0;
  double took_ms = 0;
  std::vector<LinkDeviation> deviations;  ///< beyond the tolerance
  /// Why it was skipped, if it was.
  std::string skipped;
};

/// Puts a temporary shell between two ends on loopback and measures up to three exchanges, as many
/// as take less than a second together. Over links that lose packets or vary in time they are
/// measured but not judged. Starts threads and joins them. Errors: the shell's, socket(2)'s.
ShellResult<StreamCheck> check_stream(const LinkProfile& profile, std::uint64_t seed);

}  // namespace reprise
