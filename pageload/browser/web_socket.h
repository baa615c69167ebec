#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "pageload/browser/message_stream.h"

namespace reprise {

/// A WebSocket client (RFC 6455, by Boost.Beast) for a browser on this machine: text messages, no
/// extensions.
class WebSocket final : public MessageStream {
 public:
  /// Connects to `path` at 127.0.0.1:`port` and requests a WebSocket; the first receive() checks
  /// the answer. Errors: the system error of socket(2) or connect(2).
  static Result<std::unique_ptr<WebSocket>> connect(
      std::uint16_t port, const std::string& path,
      std::size_t message_bytes_max = kMessageBytesMax);
  ~WebSocket() override;

  void send(std::string_view message) override;
  Result<std::optional<std::string>> receive(TimePoint deadline) override;

 private:
  struct State;
  explicit WebSocket(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace reprise
