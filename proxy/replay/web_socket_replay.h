#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "archive/reader.h"
#include "proxy/http/handler.h"
#include "proxy/replay/conversation.h"

namespace reprise {

/// A replayed WebSocket, after its end.
struct ReplayedWebSocket {
  std::uint64_t sequence = 0;  ///< of the recorded exchange
  std::string url;
  ConversationCounts counts;
  std::vector<std::uint64_t> differing;  ///< numbers of the client's messages, the first ones
  bool as_recorded() const {
    return counts.client_received == counts.client_recorded && counts.client_differing == 0 &&
           counts.origin_sent == counts.origin_recorded;
  }
};

struct WebSocketReport {
  std::uint64_t opened = 0;
  std::uint64_t ended = 0;
  std::uint64_t differing = 0;  ///< ended ones whose client messages differ from the recorded ones
  ConversationCounts messages;  ///< of all ended ones
  std::vector<ReplayedWebSocket> different;  ///< those that differ, at most kListedMax
};

/// Replays recorded WebSockets. Thread-safe.
class WebSocketReplay {
 public:
  static constexpr std::size_t kListedMax = 1'000;

  explicit WebSocketReplay(const ArchiveReader& archive) : archive_(archive) {}

  /// Answers a request for a WebSocket by `exchange`, which opened one; `recorded` is its response
  /// as served. Returns when the client or the recording has ended it. Errors: the stream's.
  Task<void> serve(const Exchange& exchange, const ResponseHead& recorded, const RequestHead& head,
                   BodyReader& body, ResponseWriter& writer);

  WebSocketReport report() const;
  /// Clears the report. WebSockets that are open now are in no later one.
  void reset();

 private:
  using Script = std::vector<WebSocketMessage>;
  const Script& script_of(const MessageOwner& owner);
  /// Counts an ended one that was opened in that generation.
  void add(const Exchange& exchange, const Conversation& conversation, std::uint64_t generation);

  const ArchiveReader& archive_;
  mutable std::mutex mutex_;
  std::unordered_map<std::uint64_t, std::unique_ptr<const Script>> scripts_;  // by sequence
  WebSocketReport report_;
  std::uint64_t generation_ = 0;  // of the report: reset() begins the next
};

}  // namespace reprise
