#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "shaper/packet/network/shell_error.h"
#include "shaper/profile.h"

namespace reprise {

/// What an exchange takes by the model in simulated time, and what it took through a shell.
struct TimeCheck {
  double expected_ms = 0;
  double measured_ms = 0;
};

/// Whether this machine keeps up with the model. Whether the model is like TCP, no run can tell:
/// tests/shaper/stream/stream_against_packet.cc compares the two.
struct StreamCheck {
  TimeCheck connected;                  ///< from connect(2) to an answer of one byte
  std::optional<TimeCheck> round_trip;  ///< the same again on the connection
  std::optional<TimeCheck> transfer;    ///< an answer of transfer_bytes
  std::uint64_t transfer_bytes = 0;
  double took_ms = 0;
  /// Sentences about what is off by more than the tolerance.
  std::vector<std::string> deviations;
  /// Why it was left out, if it was.
  std::string skipped;
};

/// Puts a shell of its own between two ends on loopback and measures up to three exchanges, as many
/// as take less than a second together. Over links that lose packets or vary in time they are
/// measured and not judged. Makes threads and joins them. Errors: the shell's, socket(2)'s.
ShellResult<StreamCheck> check_stream(const LinkProfile& profile, std::uint64_t seed);

}  // namespace reprise
