#pragma once

// Transfers sent over a TcpLink at given times. Pure. Times are in us, as real numbers.

#include <cstddef>
#include <span>
#include <vector>

#include "analysis/prediction/tcp_link.h"

namespace reprise {

struct GivenTransfer {
  double at_us = 0;
  std::size_t connection = 0;  ///< any number; transfers with the same one share it
  double bytes = 0;
  TransferPriority priority;
};

struct SentAgain {
  // By transfer.
  std::vector<double> first_us, end_us;  ///< when it comes out
  std::vector<double> record_us;         ///< when as much is out as its first TLS record can have
  std::vector<double> wait_us;  ///< by probe: of something small that comes to the link then
};

/// As of a TcpLink, with one round trip for all connections.
struct SentOver {
  double bytes_per_us = 0;
  double round_trip_us = 0;
  WriteAhead ahead;
};

SentAgain send_again(const SentOver& over, std::span<const GivenTransfer> transfers,
                     std::span<const double> probes_us);

}  // namespace reprise
