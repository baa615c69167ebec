#pragma once

// A WebSocket client for a browser on this machine: text messages, no extensions.
// Source: RFC 6455 section 4.1 (handshake); the frames are those of proxy/http/web_socket.h.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "pageload/browser/message_stream.h"
#include "proxy/http/web_socket.h"

namespace reprise {

class WebSocket : public MessageStream {
 public:
  /// Connects to `path` at 127.0.0.1:`port` and asks for a WebSocket; the answer is looked at by
  /// the first receive(). Errors: the system error of socket(2) or connect(2).
  static Result<WebSocket> connect(std::uint16_t port, std::string_view path);

  /// Speaks over these two, which are copies of one socket, asking for `path` at `host`.
  WebSocket(Descriptor write, Descriptor read, std::string_view host, std::string_view path);

  void send(std::string_view message) override;

 private:
  Result<std::optional<std::string>> take_message() override;
  Result<bool> take_answer();
  void send_frame(MessageKind kind, std::span<const std::byte> payload);

  static constexpr std::size_t kAnswerBytesMax = 16 << 10;

  std::string expected_accept_;
  bool answered_ = false;
  std::string held_;             ///< to be sent once it is
  std::size_t taken_bytes_ = 0;  ///< of incoming_
  WebSocketParser parser_{MessageSender::kOrigin};
  std::string fragments_;  ///< of a message that is not whole yet
};

}  // namespace reprise
