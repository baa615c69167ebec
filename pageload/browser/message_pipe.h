#pragma once

// The byte layer of --remote-debugging-pipe: messages that end in a NUL byte, over two descriptors.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/system/descriptor.h"
#include "pageload/browser/message_stream.h"

namespace reprise {

class MessagePipe : public MessageStream {
 public:
  /// `write` and `read` are two different sockets. They are set to non-blocking.
  MessagePipe(Descriptor write, Descriptor read, std::size_t message_bytes_max = kMessageBytesMax);

  /// `message` must not contain NUL.
  void send(std::string_view message) override;
  Result<std::optional<std::string>> receive(TimePoint deadline) override;

 private:
  /// Takes one complete message from the start of incoming_, if any. Errors: message_size.
  Result<std::optional<std::string>> take_message();
  void flush();

  Descriptor write_;
  Descriptor read_;
  std::size_t message_bytes_max_;
  std::string outgoing_;
  std::string incoming_;            ///< received, not taken yet
  std::size_t taken_bytes_ = 0;     ///< of incoming_: already returned
  std::size_t searched_bytes_ = 0;  ///< of incoming_: known to hold no further NUL
};

/// A MessagePipe and the two descriptors that the browser, its other side, reads and writes.
struct MessagePipePair {
  MessagePipe ours;
  Descriptor browser_reads;
  Descriptor browser_writes;
};

/// Errors: the system error of socketpair(2).
Result<MessagePipePair> make_message_pipe(
    std::size_t message_bytes_max = MessageStream::kMessageBytesMax);

}  // namespace reprise
