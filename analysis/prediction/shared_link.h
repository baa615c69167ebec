#pragma once

// A link whose rate is shared evenly by all transfers that are active, as a fluid. Pure.

#include <cstddef>
#include <limits>
#include <vector>

namespace reprise {

class SharedLink {
 public:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  /// A rate of 0 is unlimited.
  explicit SharedLink(double bytes_per_us) : bytes_per_us_(bytes_per_us) {}

  /// At the time of the last advance().
  void add(std::size_t transfer, double bytes);
  /// When the next transfer ends if none is added; kNever without any.
  double next_end() const;
  /// Moves on to that time, at most next_end(), and returns what ended then, in the order of
  /// adding.
  std::vector<std::size_t> advance(double at_us);

 private:
  struct Transfer {
    std::size_t name = 0;
    double until = 0;  ///< what each transfer has been given by then, in bytes
  };
  double speed() const { return bytes_per_us_ / static_cast<double>(active_.size()); }

  double bytes_per_us_;
  double now_us_ = 0;
  double given_ = 0;  ///< to each transfer that was always active, in bytes
  std::vector<Transfer> active_;
};

}  // namespace reprise
