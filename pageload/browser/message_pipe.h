#pragma once

// The byte layer of --remote-debugging-pipe: messages that a NUL byte ends, over two descriptors.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "pageload/browser/message_stream.h"

namespace reprise {

class MessagePipe : public MessageStream {
 public:
  /// `write` and `read` are sockets; the same one may not be given twice.
  MessagePipe(Descriptor write, Descriptor read);

  /// `message` holds no NUL.
  void send(std::string_view message) override;

 private:
  Result<std::optional<std::string>> take_message() override;

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
