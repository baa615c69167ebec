#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "proxy/replay/response/injected_documents.h"
#include "proxy/replay/response/prepared_cache.h"

namespace reprise {

/// A stored response in the form for one client. Borrows from the exchange, which `response` keeps
/// alive.
struct ServedForm {
  StoredResponsePtr response;  ///< null: the exchange cannot be served
  /// Null for the recorded form. Otherwise the altered form; if it could not be made, the recorded
  /// response is served.
  const AlteredResponse* altered = nullptr;
  bool plain = false;  ///< the client accepts none of the recorded content codings
  /// The content is not the recorded one: it has the script, or a what-if changed it. Its
  /// validators are the recorded ones.
  bool is_rewritten = false;
};

/// The exchanges of an archive ready to be served: each is prepared on first use, in the forms that
/// clients need, and kept as long as there is room (PreparedCache). Thread-safe.
class PreparedExchanges {
 public:
  struct Options {
    std::optional<inject::InjectedScript> script;  ///< goes into documents; nothing: no script
    Timing timing = {};
    std::chrono::seconds date_shift{};     ///< how much later dates in responses are than recorded
    std::set<std::string> h3_offers = {};  ///< hosts whose offers of HTTP/3 (Alt-Svc) are kept
    /// Exchanges whose body a what-if changed, by their sequence numbers.
    std::set<std::uint64_t> changed_bodies = {};
  };

  /// `archive` must outlive this. `on_damage` is called for damage found while sending.
  PreparedExchanges(const ArchiveReader& archive, Options options,
                    PreparedExchange::OnDamage on_damage);

  PreparedCache::Entry get(std::uint32_t ordinal) { return cache_.get(ordinal); }
  /// The response of `exchange`, a result of get() for `ordinal`, in the form for a client that
  /// sent `request`. Making a form takes milliseconds; an existing one costs no allocation.
  ServedForm form_for(const RequestHead& request, const PreparedCache::Entry& exchange,
                      std::uint32_t ordinal);
  /// How much later dates in responses are than recorded.
  std::chrono::seconds date_shift() const { return dates_.by(); }

  /// Prepares every exchange of `session` now, as far as there is room. Returns the number of those
  /// without room; 0 if it ended early because `stop`, asked before each exchange, returned true.
  std::size_t warm(std::uint32_t session, const std::function<bool()>& stop = {});
  /// The same for documents only, until it is stopped.
  void warm_documents(std::uint32_t session, const std::stop_token& stop);

  /// The documents with the script, and how often they were served.
  const InjectedDocuments& documents() const { return documents_; }
  const Timing& timing() const { return scheduler_.timing(); }
  /// For a new client session: clears the counts, and drawn think times restart. Prepared exchanges
  /// are kept.
  void reset();

 private:
  PreparedCache::Entry prepare(std::uint32_t ordinal);
  /// False if there is no more room.
  bool warm_document(std::uint32_t ordinal);

  const ArchiveReader& archive_;
  std::optional<inject::InjectedScript> const script_;
  DateShift const dates_;
  std::set<std::string> const h3_offers_;
  Scheduler const scheduler_;
  PreparedExchange::OnDamage const on_damage_;
  std::vector<bool> has_changed_body_;  // by ordinal
  InjectedDocuments documents_;
  PreparedCache cache_;
};

}  // namespace reprise
