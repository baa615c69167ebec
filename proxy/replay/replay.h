#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <vector>

#include "archive/match.h"
#include "archive/reader.h"
#include "inject/rewrite.h"
#include "proxy/connection.h"
#include "proxy/replay/prepared.h"
#include "proxy/replay/synthesis.h"
#include "proxy/replay/tls_plans.h"

namespace reprise {

/// A request that the archive could not answer. Texts of more than Replay::kMissTextMax bytes end
/// there, with "...".
struct Miss {
  std::string method;
  std::string url;
  std::uint64_t count = 0;
  std::string reason;
  std::vector<NearMiss> nearest;
};

/// What a replay has done since it started, or since the last reset.
struct ReplayCounts {
  std::uint64_t hits = 0;  ///< answered, as far as the client would listen
  std::uint64_t misses = 0;
  std::uint64_t damaged = 0;      ///< recorded, but damaged in the file: counted among the misses
  std::uint64_t misdirected = 0;  ///< sent to a connection of their own (421), neither of these
  std::uint64_t exchanges_servable = 0;
  std::uint64_t exchanges_served = 0;  ///< distinct ones
  std::uint64_t injected = 0;          ///< served with the script in them, among the hits
  std::int64_t injected_bytes = 0;     ///< by which those bodies were longer than recorded
};

/// A document or worker that was asked for, and what became of it.
struct InjectedDocument {
  std::string url;
  inject::Destination destination = inject::Destination::kDocument;
  std::uint64_t served = 0;
  inject::RewriteReport report;
};

struct ReplayReport {
  std::uint32_t session = 0;  ///< the recorded session that is served
  ReplayCounts counts;
  Synthesised synthesised;
  std::vector<TlsHost> tls_hosts;
  std::vector<InjectedDocument> documents;  ///< in the archive's order, at most kDocumentsMax
  std::vector<Miss> distinct_misses;        ///< in order of appearance, at most kDistinctMissesMax
};

/// Answers requests from an archive, for any number of threads. What an exchange needs to be served
/// is prepared on its first use and kept; the bodies come straight from the map.
/// Knows nothing that dials.
class Replay final : public HandlerFactory {
 public:
  static constexpr std::size_t kDistinctMissesMax = 10'000;
  static constexpr std::size_t kMissTextMax = 4 << 10;
  static constexpr std::size_t kDocumentsMax = 10'000;
  /// warm_documents() stops when rewritten documents take as much.
  static constexpr std::size_t kWarmDocumentBytesMax = 64 << 20;

  struct Options {
    std::uint32_t session = 0;  ///< 0: the last complete one
    Protocol protocol = Protocol::kRecorded;
    std::optional<inject::InjectedScript> script;  ///< goes into documents; nothing: none does
  };

  /// `archive` must outlive this.
  Replay(const ArchiveReader& archive, Options options);
  ~Replay() override;

  std::unique_ptr<ConnectionHandler> open(const ConnectionInfo& connection) override;

  /// Prepares every exchange now instead of on its first use.
  void warm();
  /// The same for documents alone, until it is stopped or they take much memory.
  void warm_documents(const std::stop_token& stop);
  /// Starts a new client session: sequences begin again and the report is empty.
  void reset();
  ReplayReport report() const;
  /// The numbers of the report alone: as cheap as they look.
  ReplayCounts counts() const;

  /// Answers one request. Thread-safe.
  Task<void> serve(const RequestHead& head, BodyReader& body, ResponseWriter& writer);
  /// The answer to a request without content, counted as given; null when there is none, or it is
  /// damaged: serve() says so. Thread-safe, allocates nothing once the exchange is prepared.
  const StoredResponse* stored(const RequestHead& head);
  /// Sends a request for `head.host` away from a connection that was made for another host.
  Task<void> answer_misdirected(const RequestHead& head, const std::string& connection_host,
                                ResponseWriter& writer);
  const TlsPlans& tls_plans() const { return tls_plans_; }

 private:
  /// Which recordings to look at: of a request that was answered before its content was whole, the
  /// content is chance and not compared.
  enum class RequestBody : std::uint8_t { kWhole, kPartial };

  /// Returns whether to go on.
  using InjectedVisitor =
      std::function<bool(const PreparedExchange&, inject::Destination, InjectedResponse&)>;

  Decision find(MatchKey key, RequestBody recorded);
  void visit_injected(const InjectedVisitor& visit) const;
  /// The exchange as it is served, prepared by the first who asks.
  const PreparedExchange& prepared(std::uint32_t ordinal);
  /// What this request gets of the exchange. Null when that cannot be served.
  const StoredResponse* choose_form(const PreparedExchange& chosen, const RequestHead& head);
  Task<void> answer_miss(const MatchKey& key, std::string reason, ResponseWriter& writer);
  void count_hit(std::uint32_t ordinal, HttpVersion version);
  Miss count_miss(const MatchKey& key, std::string reason);
  /// What was counted as a hit turned out damaged after its head was on the way.
  void turn_hit_into_damage(const StoredRequest& request, std::string reason);

  const ArchiveReader& archive_;
  Matcher matcher_;
  TlsPlans tls_plans_;
  SequenceCursors cursors_;

  std::optional<inject::InjectedScript> const script_;
  std::vector<std::atomic<const PreparedExchange*>> prepared_;  // by ordinal; owned
  std::vector<std::atomic<bool>> served_;                       // by ordinal
  std::uint64_t servable_count_ = 0;
  std::atomic<std::uint64_t> served_count_ = 0;
  std::atomic<std::uint64_t> hits_ = 0;
  std::atomic<std::uint64_t> misdirected_ = 0;
  std::atomic<std::uint64_t> injected_ = 0;
  std::atomic<std::int64_t> injected_bytes_ = 0;
  SynthesisCounter synthesis_;

  mutable std::mutex misses_mutex_;  // misses are rare, and never on the way of a hit
  std::uint64_t misses_ = 0;
  std::uint64_t damaged_ = 0;
  std::vector<Miss> distinct_misses_;
  std::unordered_map<std::size_t, std::size_t> miss_positions_;  // by hash of method and URL
};

}  // namespace reprise
