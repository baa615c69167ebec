#pragma once

// Reads beacons of real users, one line each (BEACONS.md): entries of the Performance Timeline, the
// lean form of our own script, Boomerang's. Pure; input is hostile.

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <string_view>

#include "analysis/beacons/beacon_view.h"

namespace reprise {

/// Why a line is not a view.
struct BeaconFault {
  std::string why;  ///< "not JSON: ..."
  /// A beacon that is not of a view, such as Boomerang's at the end of a visit: nothing is lost.
  bool is_other_beacon = false;
};

/// Reads a line at a time; keeps its buffers, which grow to about six times the longest line and 4
/// MiB. Not thread-safe.
class BeaconReader {
 public:
  static constexpr std::size_t kLineBytesMax = std::size_t{16} << 20;
  /// Bytes that must be readable after a line for read_padded(), of any value.
  static constexpr std::size_t kPaddingBytes = 64;

  BeaconReader();
  ~BeaconReader();

  /// The view is the reader's and valid until the next call; some of its texts are in `line`.
  std::expected<const BeaconView*, BeaconFault> read(std::string_view line);
  /// The same without a copy of the line.
  std::expected<const BeaconView*, BeaconFault> read_padded(std::string_view line);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace reprise
