#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace reprise {

/// Whole messages to and from a browser: text with a NUL at its end on a pipe (message_pipe.h), or
/// WebSocket messages (web_socket.h). Blocking with deadlines; one thread.
class MessageStream {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  /// A page can make the browser send a message of any size; a longer one ends the connection.
  static constexpr std::size_t kMessageBytesMax = 256 << 20;

  virtual ~MessageStream() = default;

  /// Queues `message` and writes as much of the queue as the other side accepts.
  virtual void send(std::string_view message) = 0;

  /// The next message; nullopt if none was complete at `deadline`, even if the bytes of one still
  /// come. Also writes queued messages while it waits. Errors: broken_pipe: the other side has
  /// closed; message_size: over the limit; bad_message: its bytes are not valid for the transport.
  virtual Result<std::optional<std::string>> receive(TimePoint deadline) = 0;
};

}  // namespace reprise
