#pragma once

// When a recorded WebSocket says what, to a client that need not do what the recorded one did.
// Pure: times are arguments, and nothing is sent here.

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "archive/web_socket.h"
#include "proxy/http/web_socket.h"

namespace reprise {

/// How what the client sent compares with what was recorded.
struct ConversationCounts {
  std::uint64_t client_recorded = 0;  ///< text and binary messages
  std::uint64_t client_received = 0;
  std::uint64_t client_differing = 0;  ///< of those that have a recorded one in their place
  std::uint64_t origin_recorded = 0;
  std::uint64_t origin_sent = 0;
};

/// One WebSocket being replayed. What the origin sent after the client's message k is not sent
/// before the client's message k has come, and then as much later as it was. Client messages are
/// matched by their order alone; what they say is compared and counted, and changes nothing.
/// Pings and pongs of the client are not waited for; pongs of the origin that answered a recorded
/// ping are left out, as a ping of today is answered by who receives it.
class Conversation {
 public:
  using Time = std::chrono::nanoseconds;  ///< since any one point

  /// How long the client may take to answer a close.
  static constexpr Time kCloseTimeout = std::chrono::seconds(10);
  /// A recorded pause is cut to this.
  static constexpr Time kDelayMax = std::chrono::hours(24);
  static constexpr std::size_t kDifferencesMax = 10;
  static constexpr std::size_t kOpenPingsMax = 16;

  /// `script` in recorded order; it and its payloads outlive this. `opened`: when the recorded
  /// handshake was answered; `now`: when today's was.
  Conversation(std::span<const WebSocketMessage> script, SessionTime opened, Time now);

  /// The client sent that. Nothing behind a close counts.
  void receive(const WebSocketParser::Piece& piece, Time now);

  struct Step {
    enum class Kind : std::uint8_t {
      kWait,
      kSend,
      kAnswerClose,  ///< send back what the client closed with, then end
      kEnd,          ///< end the connection
    } kind = Kind::kWait;
    const WebSocketMessage* message = nullptr;  ///< to send, then to be called again
    bool continues = false;                     ///< it is a further piece of the message before it
    std::optional<Time> at;  ///< of kWait: when to ask again; nothing: once something was received
  };
  /// What to do now.
  Step next(Time now);

  ConversationCounts counts() const { return counts_; }
  /// Numbers, from 1, of the first messages of the client that differ from the recorded ones.
  const std::vector<std::uint64_t>& differing() const { return differing_; }

 private:
  bool is_client_data(std::size_t at) const;
  /// Whether the script's own place `at` has been reached by the client; then time counts from it.
  bool passes(const WebSocketMessage& message);
  bool is_answer(const WebSocketMessage& pong);
  std::optional<Time> due_of(const WebSocketMessage& message) const;
  void compare(const WebSocketParser::Piece& piece);
  void receive_close(Time now);

  std::span<const WebSocketMessage> script_;
  ConversationCounts counts_;
  std::vector<std::uint64_t> differing_;

  std::size_t place_ = 0;  // in the script: all before it has been said
  SessionTime base_recorded_;
  Time base_;
  Time last_sent_;
  std::uint64_t client_passed_ = 0;  // the client's messages in the script before place_
  std::vector<Time> received_;       // when, of those that the script has and are not passed
  std::size_t first_received_ = 0;   // of received_, the first that is not passed
  std::vector<std::span<const std::byte>> open_pings_;  // recorded, not answered yet
  bool sending_piece_ = false;

  std::size_t expected_ = 0;         // in the script: the client's next piece
  std::size_t expected_offset_ = 0;  // in its payload
  bool same_ = true;                 // the message that comes now, so far
  std::optional<Time> client_closed_;
  std::optional<Time> origin_closed_;
};

}  // namespace reprise
