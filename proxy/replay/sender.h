#pragma once

#include "proxy/replay/answer.h"
#include "proxy/replay/web_socket_replay.h"

namespace reprise {

/// Sends the chosen answer when it is due: the one place where a replay writes. Thread-safe.
class Sender {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// Both must outlive this. `ledger` counts the waits of responses. `empty_misses`: see
  /// ReplaySession::Options.
  Sender(ReplayLedger& ledger, WebSocketReplay& web_sockets, bool empty_misses)
      : ledger_(ledger), web_sockets_(web_sockets), empty_misses_(empty_misses) {}

  /// Sends `answer` to the request `head`, which was complete at `whole_at`. All arguments must
  /// outlive the task. Errors: the writer's; the archive's if a piece is damaged; always one if the
  /// recorded response had no end, which closes the connection (h1) or resets the stream (h2, h3).
  Task<void> send(const Answer& answer, const RequestHead& head, Time whole_at, BodyReader& body,
                  ResponseWriter& writer) const;

 private:
  /// Sends the part from a recorded exchange, by its schedule.
  Task<void> send_recorded(const Answer& answer, const RequestHead& head, Time whole_at,
                           BodyReader& body, ResponseWriter& writer) const;

  ReplayLedger& ledger_;
  WebSocketReplay& web_sockets_;
  bool const empty_misses_;
};

}  // namespace reprise
