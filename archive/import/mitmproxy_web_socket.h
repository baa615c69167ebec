#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "archive/import/collect/collector.h"

namespace reprise::importing {

/// How a WebSocket in a flow ended.
struct WebSocketClose {
  std::optional<MessageSender> sender;  ///< nothing: it was not closed
  std::uint16_t code = 0;
  std::string reason;
  UnixTime time;
};

/// The message that closed it, or its end without one. `close` has a sender.
MessageDraft close_message(const WebSocketClose& close);

/// The handshakes whose messages may follow. Before mitmproxy 7 a WebSocket has two flows, written
/// in this order: its handshake, of type "http", and its messages, of type "websocket", which name
/// the handshake by its id. Adds the oldest without messages, which leaves it incomplete, when too
/// many wait.
class WaitingHandshakes {
 public:
  static constexpr std::size_t kMax = 256;
  static constexpr std::size_t kBytesMax = 128 << 20;

  explicit WaitingHandshakes(Collector& collector) : collector_(collector) {}

  void hold(std::string id, ExchangeDraft draft);
  /// Nothing if no handshake of that id waits.
  std::optional<ExchangeDraft> take(const std::string& id);
  /// Adds those that still wait.
  void let_go();

 private:
  struct Waiting {
    std::string id;
    ExchangeDraft draft;
    std::size_t memory_bytes = 0;
  };
  Waiting take(std::deque<Waiting>::iterator at);

  Collector& collector_;
  std::deque<Waiting> waiting_;
  std::size_t memory_bytes_ = 0;
};

}  // namespace reprise::importing
