#pragma once

#include <map>
#include <optional>
#include <set>

#include "proxy/http/event.h"
#include "proxy/record/dial_waiter.h"
#include "proxy/record/exchange_recorder.h"
#include "proxy/record/origin_connection.h"
#include "proxy/record/record_session.h"
#include "proxy/record/trace_fetcher.h"

namespace reprise {

/// Forwards one client connection's requests to their origins and archives them. Each client
/// connection has its own origin connections, so that the origin sees the client's connections as
/// they are. Every chunk is passed on at once; the end of a response is held back until the
/// exchange is archived: every message that a client has received completely is in the archive.
class RecordConnection final : public ConnectionHandler {
 public:
  /// Limit of origin connections kept for one client connection; beyond it an idle one is closed.
  static constexpr std::size_t kConnectionsMax = 64;

  RecordConnection(RecordSession& session, const ConnectionInfo& connection);
  ~RecordConnection() override;

  awaitable<TlsPlan> plan_tls(const ConnectionInfo& connection, const ClientHello& hello) override;
  Task<void> serve(const ExchangeContext& context, const RequestHead& received, BodyReader& body,
                   ResponseWriter& writer) override;
  void close() override;
  awaitable<void> ended() override;

 private:
  using Target = OriginDialer::Target;
  using Connections = std::multimap<Target, std::unique_ptr<OriginConnection>>;

  /// An origin's connection for one exchange, or why it cannot be made.
  struct Acquired {
    OriginConnection* connection = nullptr;
    bool fresh = false;  ///< dialled for this exchange: the origin cannot have closed it as idle
    bool private_refused = false;
    KeptFacts facts;  ///< null if the client has closed
  };
  enum class Attempt { kDone, kStale };
  struct Passing;

  awaitable<Acquired> acquire(const Target& target, Reach reach);
  awaitable<Acquired> dial(const Target& target, Reach reach);
  void forget_what_is_over();
  Target target_of(const RequestHead& head);

  /// Sends the request and returns the response. kStale: the origin closed a connection that was
  /// not fresh, or refused the request unseen, and another connection may be tried.
  Task<Attempt> pass(Passing& passing);
  /// Returns only if the client has closed, or has cut its content before an answer came.
  Task<void> send_and_watch(Passing& passing);
  Task<void> send_request(Passing& passing);
  /// Returns the response; the rest of the request continues meanwhile.
  Task<void> answer(Passing& passing);
  Task<void> return_response(Passing& passing);
  Task<void> open_web_socket(Passing& passing, const ResponseHead& head);
  Task<void> return_body(Passing& passing);

  RecordSession& session_;
  const ConnectionInfo& client_;
  TraceFetcher trace_fetcher_;
  std::optional<ClientHello> hello_;
  Connections connections_;
  std::map<Target, KeptFacts> failed_;  // from plan_tls, reported to the first request
  std::set<Target> dialled_now_;        // by another stream, which can share it
  std::vector<DialWaiter*> dial_waiters_;
  std::set<dns::Ticket*> dialling_;  // to be ended by close()
  std::size_t running_ = 0;          // connections in run()
  Event all_ended_;
  bool closed_ = false;
};

}  // namespace reprise
