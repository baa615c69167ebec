#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "archive/match/match.h"
#include "archive/reader.h"
#include "inject/rewrite.h"
#include "proxy/connection.h"
#include "proxy/replay/early_answers.h"
#include "proxy/replay/ledger.h"
#include "proxy/replay/made_up.h"
#include "proxy/replay/response/injected_documents.h"
#include "proxy/replay/response/prepared_cache.h"
#include "proxy/replay/response/scheduler.h"
#include "proxy/replay/response/synthesis.h"
#include "proxy/replay/tls_plans.h"
#include "proxy/replay/web_socket_replay.h"

namespace reprise {

class StitchedParts;

/// A document or worker that was asked for, and what became of it.
struct InjectedDocument {
  std::string url;
  inject::Destination destination = inject::Destination::kDocument;
  std::uint64_t served = 0;
  inject::RewriteReport report;
};

struct ReplayReport {
  std::uint32_t session = 0;  ///< the recorded session that is served
  Timing timing;
  ReplayCounts counts;
  Synthesised synthesised;
  std::vector<TlsHost> tls_hosts;
  std::vector<InjectedDocument> documents;  ///< in the archive's order
  std::vector<Miss> distinct_misses;        ///< ReplayLedger says of these how many there are
  std::vector<InexactHit> inexact_hits;
  std::vector<SpecialAnswer> special_answers;
  std::vector<RecordedRequest> never_asked_for;  ///< at most kListedMax
  std::uint64_t out_of_order_count = 0;
  std::vector<RecordedRequest> out_of_order;  ///< at most kListedMax
  WebSocketReport web_sockets;
};

/// Answers requests from an archive, for any number of threads. What an exchange needs to be served
/// is prepared on its first use and kept as long as there is room (PreparedCache); the bodies come
/// straight from the map.
/// Knows nothing that dials.
class Replay final : public HandlerFactory {
 public:
  static constexpr std::size_t kListedMax = 1'000;
  /// Files in parts that are held, once they were asked for otherwise than they were recorded.
  static constexpr std::size_t kStitchedMax = 1'024;

  struct Options {
    std::uint32_t session = 0;  ///< 0: the last complete one
    Protocol protocol = Protocol::kRecorded;
    MatchRules match = {};
    std::optional<inject::InjectedScript> script;  ///< goes into documents; nothing: none does
    Timing timing = {};
    std::chrono::seconds date_shift{};  ///< by which dates of responses are later than recorded
  };

  /// `archive` must outlive this.
  Replay(const ArchiveReader& archive, Options options);
  ~Replay() override;

  std::unique_ptr<ConnectionHandler> open(const ConnectionInfo& connection) override;

  /// Prepares every exchange now instead of on its first use, as far as there is room. Returns how
  /// many there is no room for.
  std::size_t warm();
  /// The same for documents alone, until it is stopped.
  void warm_documents(const std::stop_token& stop);
  /// Starts a new client session: sequences begin again and the report is empty.
  void reset();
  ReplayReport report() const;
  /// The numbers of the report alone: as cheap as they look.
  ReplayCounts counts() const { return ledger_.counts(); }
  std::vector<Miss> misses() const { return ledger_.misses(); }

  using Time = std::chrono::steady_clock::time_point;
  /// What is known of a request beside itself.
  struct Arrival {
    Time at;         ///< when its head was whole
    Decision found;  ///< what stored() left to serve(); a miss: nothing
  };
  /// Answers one request. Thread-safe.
  Task<void> serve(const RequestHead& head, Arrival arrival, BodyReader& body,
                   ResponseWriter& writer);
  /// The answer to a request without content, counted as given; null when there is none, or it is
  /// damaged: serve() says so. Null, too, when it is not due yet: then it is chosen, and serve() is
  /// to be given `found`. Thread-safe, allocates nothing once the exchange is prepared.
  StoredResponsePtr stored(const RequestHead& head, Decision& found);
  /// Sends a request for `head.host` away from a connection that was made for another host.
  Task<void> answer_misdirected(const RequestHead& head, const std::string& connection_host,
                                ResponseWriter& writer);
  const TlsPlans& tls_plans() const { return tls_plans_; }

 private:
  /// The exact answer alone, to a request without content.
  Decision find(const MatchKey& key, HeaderList headers);
  /// The answer to a request whose content is on the way, where that need not be waited for.
  Decision find_early(const RequestHead& head);
  PreparedCache::Entry prepare(std::uint32_t ordinal);
  /// False once there is no room for more.
  bool warm_document(std::uint32_t ordinal);
  /// What this request gets of the exchange. Null when that cannot be served.
  StoredResponsePtr choose_form(const PreparedCache::Entry& chosen, std::uint32_t ordinal,
                                const RequestHead& head);
  /// Serves what was chosen, and counts it. `whole_at`: when the request was whole.
  Task<void> serve_chosen(const Decision& decision, const AskedRequest& asked,
                          const RequestHead& head, Time whole_at, ResponseWriter& writer);
  /// The same where the client can make nothing of what was chosen: by another answer to the same
  /// key, or by what the recorded parts have.
  Task<void> serve_other_form(Decision decision, const AskedRequest& asked, const RequestHead& head,
                              Time whole_at, ResponseWriter& writer);
  /// Fields of a request, with dates as they were recorded: what conditions are held against.
  Headers moved_back(HeaderList headers) const;
  void count_hit(const Decision& decision, const Exchange& exchange, const AskedRequest& asked,
                 HttpVersion version);
  /// Null when `ordinal` is no part, or too many others are held.
  const StitchedParts* stitched(std::uint32_t ordinal);
  /// Sends it, or what a condition, a range or HEAD wants of it, which waits for think time alone.
  Task<void> send(const PreparedExchange& chosen, StoredResponsePtr response,
                  const RequestHead& head, Time whole_at, ResponseWriter& writer);
  /// What no recorded exchange answers: by what they allow, as the browser's own, or as a miss.
  Task<void> answer_unmatched(const AskedRequest& asked, ResponseWriter& writer);
  Task<void> send_made_up(const AskedRequest& asked, const MadeUp& answer, ResponseWriter& writer);
  /// Says what was asked for in vain, and what came near.
  Task<void> send_miss(const Miss& miss, ResponseWriter& writer);

  const ArchiveReader& archive_;
  Matcher matcher_;
  TlsPlans tls_plans_;
  SequenceCursors cursors_;
  EarlyAnswers early_answers_;
  ReplayLedger ledger_;
  WebSocketReplay web_sockets_;
  std::atomic<std::size_t> held_bytes_ = 0;  // of request bodies

  std::optional<inject::InjectedScript> const script_;
  DateShift const dates_;
  Scheduler const scheduler_;
  InjectedDocuments documents_;
  PreparedCache prepared_;
  struct Stitched {
    PreparedCache::Entry like;  // whose fields it has
    std::unique_ptr<const StitchedParts> parts;
  };
  std::mutex stitched_mutex_;  // such requests are rare
  std::map<std::uint32_t, Stitched> stitched_;
};

}  // namespace reprise
