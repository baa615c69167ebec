#pragma once

// The byte layer of --remote-debugging-pipe: messages that a NUL byte ends, over two descriptors.

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "archive/file.h"
#include "archive/result.h"

namespace reprise {

/// Sends and receives whole messages. Blocking with deadlines; one thread.
class MessagePipe {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  /// A page can make the browser send a message of any size; a longer one ends the connection.
  static constexpr std::size_t kMessageBytesMax = 256 << 20;

  /// `write` and `read` are sockets; the same one may not be given twice. Made non-blocking.
  MessagePipe(FileDescriptor write, FileDescriptor read);

  /// Queues `message`, which holds no NUL, and writes as much of the queue as the other side takes.
  void send(std::string_view message);

  /// The next message, without its NUL; nullopt when none was whole at `deadline`. Goes on writing
  /// what is queued meanwhile.
  /// Errors: broken_pipe when the other side has closed; message_size over `message_bytes_max`.
  Result<std::optional<std::string>> receive(TimePoint deadline);

  /// For tests.
  void limit_messages(std::size_t message_bytes_max) { message_bytes_max_ = message_bytes_max; }

 private:
  void flush();
  std::optional<std::string> take_message();

  FileDescriptor write_;
  FileDescriptor read_;
  std::string outgoing_;
  std::string incoming_;
  std::size_t taken_bytes_ = 0;     ///< of incoming_: given out already
  std::size_t searched_bytes_ = 0;  ///< of incoming_: known to hold no further NUL
  std::size_t message_bytes_max_ = kMessageBytesMax;
};

/// A MessagePipe and the two descriptors that its other side, the browser, reads and writes.
struct MessagePipePair {
  MessagePipe ours;
  FileDescriptor browser_reads;
  FileDescriptor browser_writes;
};

/// Errors: the system error of socketpair(2).
Result<MessagePipePair> make_message_pipe();

}  // namespace reprise
