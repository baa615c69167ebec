#pragma once

// The byte layer of --remote-debugging-pipe: messages that a NUL byte ends, over two descriptors.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/system/descriptor.h"
#include "pageload/browser/message_stream.h"

namespace reprise {

class MessagePipe : public MessageStream {
 public:
  /// `write` and `read` are sockets; the same one may not be given twice.
  /// Made non-blocking.
  MessagePipe(Descriptor write, Descriptor read);

  /// `message` holds no NUL.
  void send(std::string_view message) override;
  Result<std::optional<std::string>> receive(TimePoint deadline) override;

  /// For tests.
  void limit_messages(std::size_t message_bytes_max) { message_bytes_max_ = message_bytes_max; }

 private:
  /// Takes a whole message off the front of incoming_, if there is one. Errors: message_size.
  Result<std::optional<std::string>> take_message();
  void flush();

  Descriptor write_;
  Descriptor read_;
  std::size_t message_bytes_max_ = kMessageBytesMax;
  std::string outgoing_;
  std::string incoming_;            ///< received, not taken yet
  std::size_t taken_bytes_ = 0;     ///< of incoming_: given out already
  std::size_t searched_bytes_ = 0;  ///< of incoming_: known to hold no further NUL
};

/// A MessagePipe and the two descriptors that its other side, the browser, reads and writes.
struct MessagePipePair {
  MessagePipe ours;
  Descriptor browser_reads;
  Descriptor browser_writes;
};

/// Errors: the system error of socketpair(2).
Result<MessagePipePair> make_message_pipe();

}  // namespace reprise
