#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "dns/ticket.h"
#include "proxy/http/event.h"
#include "proxy/record/origin_connection.h"
#include "proxy/record/record_session.h"

namespace reprise {

/// What the fields of a response say about its trace (analysis/trench/TRENCH.md). Pure.
struct TraceMention {
  std::string url;         ///< as sent, or empty
  bool is_inline = false;  ///< the fields have the trace itself

  /// Adds those of a head or of trailers.
  void add(HeaderList fields);
  /// The target, path and query, of the trace of a request, if it has to be fetched. Without one
  /// there is nothing to fetch, or `why` says why not: only the request's own origin is asked.
  std::optional<std::string> target_for(const RequestHead& request, std::string& why) const;
};

/// Fetches the traces of one client connection's responses that have only a URL, one after the
/// other, over a connection of its own: no request of the page waits for it. Each becomes an
/// exchange of the archive once it is complete; of one that fails, nothing is archived.
class TraceFetcher {
 public:
  static constexpr std::size_t kWaitingMax = 1000;

  /// Both outlive this.
  TraceFetcher(RecordSession& session, const ConnectionInfo& client);
  ~TraceFetcher();

  /// The response to `request` is complete. `reach` is that of the request.
  void consider(const RequestHead& request, const TraceMention& mention, Reach reach,
                const net::any_io_executor& executor);
  /// The client has closed: what has not been fetched within the time of one trace is dropped.
  void close();
  /// Returns once nothing runs any more; call it after close().
  awaitable<void> ended();

 private:
  struct Wanted;

  awaitable<void> run();
  /// Returns why it was not fetched; empty if it was.
  awaitable<std::string> fetch(const Wanted& wanted);
  awaitable<std::string> ask(const Wanted& wanted);
  awaitable<std::string> connect(const Wanted& wanted);
  awaitable<std::string> send(const Wanted& wanted, OriginExchange& exchange);
  awaitable<std::string> archive(const Wanted& wanted, OriginExchange& exchange, SessionTime asked);
  awaitable<void> cut_at(net::steady_timer& deadline, std::uint64_t number);
  void spawn(const net::any_io_executor& executor, awaitable<void> part);

  RecordSession& session_;
  const ConnectionInfo& client_;
  std::deque<Wanted> waiting_;
  bool fetching_ = false;
  std::optional<std::chrono::steady_clock::time_point> ends_at_;  // once the client has closed
  std::uint64_t number_ = 0;                                      // of the current fetch
  bool is_cut_ = false;  // the current fetch, by its deadline
  std::optional<dns::Ticket> dialling_;
  OriginDialer::Target target_;  // of the connection
  std::unique_ptr<OriginConnection> connection_;
  std::optional<ConnectionFacts> facts_;  // of the connection, until they are archived
  std::size_t running_ = 0;
  Event all_ended_;
};

}  // namespace reprise
