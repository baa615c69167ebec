#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "archive/match/match.h"
#include "archive/reader.h"
#include "inject/rewrite.h"
#include "proxy/connection.h"
#include "proxy/replay/chooser.h"
#include "proxy/replay/ledger.h"
#include "proxy/replay/response/prepared_exchanges.h"
#include "proxy/replay/response/stitched_files.h"
#include "proxy/replay/response/synthesis.h"
#include "proxy/replay/sender.h"
#include "proxy/replay/tls_plans.h"
#include "proxy/replay/web_socket_replay.h"

namespace reprise {

/// A requested document or worker, and the result of the injection.
struct InjectedDocument {
  std::string url;
  inject::Destination destination = inject::Destination::kDocument;
  std::uint64_t served = 0;
  inject::RewriteReport report;
};

struct ReplayReport {
  std::uint32_t session = 0;  ///< the recorded session being served
  Timing timing;
  ReplayCounts counts;
  Synthesised synthesised;
  std::vector<TlsHost> tls_hosts;
  std::vector<InjectedDocument> documents;  ///< in the archive's order
  std::vector<Miss> distinct_misses;        ///< ReplayLedger limits their number
  std::vector<InexactHit> inexact_hits;
  std::vector<SpecialAnswer> special_answers;
  std::vector<RecordedRequest> never_asked_for;  ///< at most kListedMax
  std::uint64_t out_of_order_count = 0;
  std::vector<RecordedRequest> out_of_order;  ///< at most kListedMax
  WebSocketReport web_sockets;
};

/// Answers the requests of a client session from a recorded one, for any number of threads: has the
/// answer chosen (Chooser), counted (counting.h) and sent (Sender). Exchanges are prepared on their
/// first use; bodies come directly from the mapped file. Knows nothing that dials.
class ReplaySession final : public HandlerFactory {
 public:
  static constexpr std::size_t kListedMax = 1'000;

  struct Options {
    std::uint32_t session = 0;  ///< 0: the last complete one
    Protocol protocol = Protocol::kRecorded;
    MatchRules match = {};
    std::optional<inject::InjectedScript> script;  ///< goes into documents; nothing: no script
    Timing timing = {};
    std::chrono::seconds date_shift{};  ///< how much later dates in responses are than recorded
    TlsChanges tls = {};
    /// Exchanges whose body a what-if changed, by their sequence numbers.
    std::set<std::uint64_t> changed_bodies = {};
    /// A miss is a 404 without a body, which says the candidates in fields called X-Reprise-Near.
    bool empty_misses = false;
  };

  /// `archive` must outlive this.
  ReplaySession(const ArchiveReader& archive, Options options);

  std::unique_ptr<ConnectionHandler> open(const ConnectionInfo& connection) override;

  /// Prepares every exchange now instead of on its first use, as far as there is room. Returns the
  /// number of those without room; 0 if it ended early because `stop`, asked before each exchange,
  /// returned true.
  std::size_t warm(const std::function<bool()>& stop = {}) {
    return exchanges_.warm(matcher_.session(), stop);
  }
  /// The same for documents only, until it is stopped.
  void warm_documents(const std::stop_token& stop) {
    exchanges_.warm_documents(matcher_.session(), stop);
  }
  /// Starts a new client session: restarts the sequences and drawn think times, and clears the
  /// report.
  void reset();
  ReplayReport report() const;
  /// Only the numbers of the report, which is cheap.
  ReplayCounts counts() const { return ledger_.counts(); }
  std::vector<Miss> misses() const { return ledger_.misses(); }

  using Time = std::chrono::steady_clock::time_point;
  /// Answers one request that came over `connection`; `arrived`: when its head was complete.
  /// Thread-safe, except for `connection`.
  Task<void> serve(const RequestHead& head, AskedConnection& connection, Time arrived,
                   BodyReader& body, ResponseWriter& writer);
  /// The answer to a request without content, counted as served, if it is due at once and the
  /// unchanged stored response. Null: nothing is counted or taken, and serve() answers.
  /// Thread-safe, except for `connection`; allocates nothing once the exchange is prepared.
  StoredResponsePtr stored(const RequestHead& head, AskedConnection& connection);
  const TlsPlans& tls_plans() const { return tls_plans_; }

 private:
  PreparedExchange::OnDamage on_damage();

  Matcher matcher_;
  TlsPlans tls_plans_;
  ReplayLedger ledger_;
  WebSocketReplay web_sockets_;
  PreparedExchanges exchanges_;
  StitchedFiles files_;
  Sequences sequences_;
  Chooser chooser_;
  Sender sender_;
  std::atomic<std::size_t> held_bytes_ = 0;  // of request bodies
};

}  // namespace reprise
