#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "shaper/packet/network/datagram.h"
#include "shaper/stream/stream_network.h"

namespace reprise {

/// A client's datagram that has crossed the link and can be answered.
struct StreamQuestion {
  std::uint64_t id;
  std::vector<std::byte> bytes;
};

/// DNS datagrams across the model: each datagram of a client is a query with at most one answer.
/// Both are datagrams of the model's links, so they queue with other traffic and may be lost. The
/// answer is sent to the socket and from the address that received the query.
///
/// Not thread-safe. The times of calls must not decrease.
class StreamQuestions {
 public:
  using Time = StreamNetwork::Time;

  /// Queries beyond this many in transit or unanswered are lost.
  static constexpr std::size_t kMax = 1024;

  /// `network` must outlive this.
  explicit StreamQuestions(StreamNetwork& network) : network_(network) {}

  /// Receives the datagrams waiting at a UDP socket, at most kMax. The socket must stay open until
  /// forget().
  void take_in(int socket, Time now);

  /// Handles an event of kind datagram or datagram_dropped. Sends an arrived answer to its client;
  /// returns an arrived query, which waits for answer().
  std::optional<StreamQuestion> on_event(const StreamEvent& event);

  /// Empty `bytes`: no answer. Unknown ids are ignored.
  void answer(std::uint64_t id, std::vector<std::byte> bytes, Time now);

  /// Drops all in transit; the sockets may then be closed.
  void forget() { under_way_.clear(); }

  /// The number of queries put on the link.
  std::uint64_t count() const { return count_; }

 private:
  struct UnderWay {
    int socket;
    Datagram question;
    std::vector<std::byte> answer;
  };

  StreamNetwork& network_;
  std::unordered_map<std::uint64_t, UnderWay> under_way_;
  std::uint64_t count_ = 0;
};

}  // namespace reprise
