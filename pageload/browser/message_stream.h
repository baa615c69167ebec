#pragma once

// Whole messages to and from a browser over descriptors: what the two transports have in common,
// which are NUL-ended text on a pipe (message_pipe.h) and WebSocket frames (web_socket.h).

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/system/descriptor.h"

namespace reprise {

/// Sends and receives whole messages. Blocking with deadlines; one thread.
class MessageStream {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  /// A page can make the browser send a message of any size; a longer one ends the connection.
  static constexpr std::size_t kMessageBytesMax = 256 << 20;

  virtual ~MessageStream() = default;

  /// Queues `message` and writes as much of the queue as the other side takes.
  virtual void send(std::string_view message) = 0;

  /// The next message; nullopt when none was whole at `deadline`. Goes on writing what is queued
  /// meanwhile.
  /// Errors: broken_pipe when the other side has closed; message_size over `message_bytes_max`;
  /// bad_message when its bytes are not of the transport.
  Result<std::optional<std::string>> receive(TimePoint deadline);

  /// For tests.
  void limit_messages(std::size_t message_bytes_max) { message_bytes_max_ = message_bytes_max; }

 protected:
  /// `write` and `read` are sockets; the same one may not be given twice. Made non-blocking.
  MessageStream(Descriptor write, Descriptor read);
  MessageStream(MessageStream&&) noexcept = default;

  /// Takes a whole message off the front of incoming_, if there is one. Errors: as receive().
  virtual Result<std::optional<std::string>> take_message() = 0;

  /// Queues `bytes` as they are.
  void write(std::string_view bytes);

  std::string incoming_;  ///< received, not taken yet
  std::size_t message_bytes_max_ = kMessageBytesMax;

 private:
  void flush();

  Descriptor write_;
  Descriptor read_;
  std::string outgoing_;
};

}  // namespace reprise
