#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "shaper/packet/network/datagram.h"
#include "shaper/stream/stream_network.h"

namespace reprise {

/// A client's datagram that has crossed the link and may be answered.
struct StreamQuestion {
  std::uint64_t id;
  std::vector<std::byte> bytes;
};

/// Datagrams across the model, as names are asked for: what a client sends is a question, and has
/// one answer at most. Both are datagrams of the model's links, so they wait behind what else is on
/// the way, and may be lost. The answer goes to the socket and by the address that the question
/// came by.
///
/// Not thread-safe. The times given must not decrease.
class StreamQuestions {
 public:
  using Time = StreamNetwork::Time;

  /// Those that come while so many are on their way, or are not answered yet, are lost.
  static constexpr std::size_t kMax = 1024;

  /// `network` outlives this.
  explicit StreamQuestions(StreamNetwork& network) : network_(network) {}

  /// Takes what has come to a UDP socket, which stays open until forget(). No more than kMax.
  void take_in(int socket, Time now);

  /// Of kind datagram or datagram_dropped. Passes an answer that has arrived on to its client, and
  /// returns a question that has arrived: it waits for answer().
  std::optional<StreamQuestion> on_event(const StreamEvent& event);

  /// Nothing to say: `bytes` is empty. Ids that are not waited for are passed over.
  void answer(std::uint64_t id, std::vector<std::byte> bytes, Time now);

  /// All that are on their way; the sockets may be closed.
  void forget() { under_way_.clear(); }

  /// That were put on the link.
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
