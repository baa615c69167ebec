#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

namespace reprise {

/// Which thread serves a new connection: the one that has the fewest. The kernel's choice among
/// sockets that share a port (SO_REUSEPORT) is a hash of the addresses, which gives one of two
/// threads eight of ten connections in every ninth case. Any thread; locked for an instant at the
/// begin and the end of a connection.
class ConnectionBalance {
 public:
  explicit ConnectionBalance(std::size_t threads) : counts_(threads) {}

  /// Counts a connection for the thread that is to have it: `accepted_by` if no other has fewer.
  std::size_t place(std::size_t accepted_by);
  /// A connection of that thread has ended.
  void ended(std::size_t thread);
  /// The connections of each thread.
  std::vector<std::size_t> counts() const;

 private:
  mutable std::mutex lock_;
  std::vector<std::size_t> counts_;
};

}  // namespace reprise
