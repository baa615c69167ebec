#pragma once

// A link whose rate is shared evenly by the transfers that go on, as a fluid: of a connection, only
// the most urgent ones, and of those that are of no use in part, one after another (RFC 9218,
// section 10). Pure.

#include <compare>
#include <cstddef>
#include <limits>
#include <vector>

namespace reprise {

/// What a server of HTTP/2 or HTTP/3 goes by.
struct TransferPriority {
  int urgency = 0;          ///< 0 is the most urgent
  bool incremental = true;  ///< of use in part: shares with those like it, after all that are not
  auto operator<=>(const TransferPriority&) const = default;
};

class SharedLink {
 public:
  static constexpr double kNever = std::numeric_limits<double>::infinity();
  /// The connection of a transfer that has one of its own.
  static constexpr std::size_t kOwnConnection = std::numeric_limits<std::size_t>::max();

  /// A rate of 0 is unlimited.
  explicit SharedLink(double bytes_per_us) : bytes_per_us_(bytes_per_us) {}

  /// At the time of the last advance(). It waits for those of its connection that go first.
  void add(std::size_t transfer, double bytes, std::size_t connection = kOwnConnection,
           TransferPriority priority = {});
  /// When the next transfer ends if none is added; kNever without any.
  double next_end() const;
  /// Moves on to that time, at most next_end(), and returns what ended then, in the order of
  /// adding.
  std::vector<std::size_t> advance(double at_us);

 private:
  struct Transfer {
    std::size_t name = 0;
    std::size_t connection = kOwnConnection;
    TransferPriority priority;
    double left_bytes = 0;
    bool goes_on = true;
  };
  void choose();
  /// Of those that go on.
  double least_left() const;
  /// Of each of them.
  double speed() const { return bytes_per_us_ / static_cast<double>(going_on_); }

  double bytes_per_us_;
  double now_us_ = 0;
  std::size_t going_on_ = 0;
  std::vector<Transfer> active_;
};

}  // namespace reprise
