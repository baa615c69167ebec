#pragma once

// Decides when to send the messages of a recorded WebSocket to a client that may behave differently
// from the recorded one. Pure: times are arguments, and nothing is sent here.

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "archive/web_socket.h"
#include "proxy/http/web_socket.h"

namespace reprise {

/// Compares the client's messages with the recorded ones.
struct ConversationCounts {
  std::uint64_t client_recorded = 0;  ///< text and binary messages
  std::uint64_t client_received = 0;
  std::uint64_t client_differing = 0;  ///< of those with a recorded one at their position
  std::uint64_t origin_recorded = 0;
  std::uint64_t origin_sent = 0;
};

/// One WebSocket during replay. The origin's messages after the client's message k are not sent
/// before the client's message k has arrived, and then with the recorded delay. Client messages are
/// matched only by their order; their contents are compared and counted, with no effect on the
/// replay. Pings and pongs of the client are not waited for; the origin's pongs to recorded pings
/// are not sent, as a new ping is answered by its receiver.
class Conversation {
 public:
  using Time = std::chrono::nanoseconds;  ///< since any fixed point

  /// The time for the client to answer a close.
  static constexpr Time kCloseTimeout = std::chrono::seconds(10);
  /// The limit of a recorded pause.
  static constexpr Time kDelayMax = std::chrono::hours(24);
  static constexpr std::size_t kDifferencesMax = 10;
  static constexpr std::size_t kOpenPingsMax = 16;

  /// `script`: in recorded order; it and its payloads must outlive this. `opened`: when the
  /// recorded handshake was answered; `now`: when the new one was.
  Conversation(std::span<const WebSocketMessage> script, SessionTime opened, Time now);

  /// Adds data received from the client. Data after a close does not count.
  void receive(const WebSocketParser::Piece& piece, Time now);

  struct Step {
    enum class Kind : std::uint8_t {
      kWait,
      kSend,
      kAnswerClose,  ///< send back the client's close, then end
      kEnd,          ///< end the connection
    } kind = Kind::kWait;
    const WebSocketMessage* message = nullptr;  ///< to send, then call next() again
    bool continues = false;                     ///< it is a further piece of the previous message
    std::optional<Time>
        at;  ///< for kWait: when to call again; nothing: after something is received
  };
  /// What to do now.
  Step next(Time now);

  ConversationCounts counts() const { return counts_; }
  /// Numbers, from 1, of the first client messages that differ from the recorded ones.
  const std::vector<std::uint64_t>& differing() const { return differing_; }

 private:
  bool is_client_data(std::size_t at) const;
  /// Whether the client has reached the place `at` in the script; time then counts from it.
  bool passes(const WebSocketMessage& message);
  bool is_answer(const WebSocketMessage& pong);
  std::optional<Time> due_of(const WebSocketMessage& message) const;
  void compare(const WebSocketParser::Piece& piece);
  void receive_close(Time now);

  std::span<const WebSocketMessage> script_;
  ConversationCounts counts_;
  std::vector<std::uint64_t> differing_;

  std::size_t place_ = 0;  // in the script: everything before it has been sent
  SessionTime base_recorded_;
  Time base_;
  Time last_sent_;
  std::uint64_t client_passed_ = 0;  // the client's messages in the script before place_
  std::vector<Time>
      received_;  // the times of the client's messages in the script that are not passed
  std::size_t first_received_ = 0;                      // in received_, the first one not passed
  std::vector<std::span<const std::byte>> open_pings_;  // recorded, not answered yet
  bool sending_piece_ = false;

  std::size_t expected_ = 0;         // in the script: the client's next piece
  std::size_t expected_offset_ = 0;  // in its payload
  bool same_ = true;                 // of the current message, so far
  std::optional<Time> client_closed_;
  std::optional<Time> origin_closed_;
};

}  // namespace reprise
