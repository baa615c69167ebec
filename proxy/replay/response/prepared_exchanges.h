#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>

#include "proxy/replay/response/injected_documents.h"
#include "proxy/replay/response/prepared_cache.h"

namespace reprise {

/// A stored response in the form that one client wants. Borrows from the exchange, which `response`
/// keeps alive.
struct ServedForm {
  StoredResponsePtr response;  ///< null: the exchange cannot be served
  /// Null where that is the recorded form. Else what was made of it; the recorded response is
  /// served all the same where nothing could be.
  const AlteredResponse* altered = nullptr;
  bool plain = false;  ///< the client takes none of the recorded content codings
};

/// The exchanges of an archive as they are served: each prepared by the first who asks, in the
/// forms that clients want, and kept as long as there is room (PreparedCache). Thread-safe.
class PreparedExchanges {
 public:
  struct Options {
    std::optional<inject::InjectedScript> script;  ///< goes into documents; nothing: none does
    Timing timing = {};
    std::chrono::seconds date_shift{};  ///< by which dates of responses are later than recorded
  };

  /// `archive` must outlive this. `on_damage` is told what turned out damaged while it was sent.
  PreparedExchanges(const ArchiveReader& archive, Options options,
                    PreparedExchange::OnDamage on_damage);

  PreparedCache::Entry get(std::uint32_t ordinal) { return cache_.get(ordinal); }
  /// The response of `exchange`, which get() gave for `ordinal`, as a client that sent `request`
  /// wants it. Making a form takes milliseconds; once it is there, nothing is allocated.
  ServedForm form_for(const RequestHead& request, const PreparedCache::Entry& exchange,
                      std::uint32_t ordinal);
  /// Fields of a request, with dates as they were recorded: what conditions are held against.
  Headers moved_back(HeaderList headers) const;

  /// Prepares every exchange of `session` now, as far as there is room. Returns how many there is
  /// no room for.
  std::size_t warm(std::uint32_t session);
  /// The same for documents alone, until it is stopped.
  void warm_documents(std::uint32_t session, const std::stop_token& stop);

  /// What the script went into, and how often that was served.
  const InjectedDocuments& documents() const { return documents_; }
  const Timing& timing() const { return scheduler_.timing(); }
  /// Nothing was served so far. What is prepared stays.
  void reset() { documents_.reset(); }

 private:
  PreparedCache::Entry prepare(std::uint32_t ordinal);
  /// False once there is no room for more.
  bool warm_document(std::uint32_t ordinal);

  const ArchiveReader& archive_;
  std::optional<inject::InjectedScript> const script_;
  DateShift const dates_;
  Scheduler const scheduler_;
  PreparedExchange::OnDamage const on_damage_;
  InjectedDocuments documents_;
  PreparedCache cache_;
};

}  // namespace reprise
