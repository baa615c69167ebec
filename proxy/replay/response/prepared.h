#pragma once

#include <array>
#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "archive/reader.h"
#include "base/http/message.h"
#include "inject/rewrite.h"
#include "proxy/http/fitted_fields.h"
#include "proxy/http/stored_response.h"
#include "proxy/replay/response/date_shift.h"
#include "proxy/replay/response/scheduler.h"

namespace reprise {

/// The form of a stored response that a client needs.
struct Form {
  inject::Destination destination = inject::Destination::kData;  ///< whether the script is inserted
  bool plain = false;  ///< without its content codings, for a client that accepts none of them
  bool as_recorded() const { return destination == inject::Destination::kData && !plain; }
  /// With the script for documents, for workers, or without one; coded as recorded, or plain.
  static constexpr std::size_t kSlots = 6;
  std::size_t slot() const { return static_cast<std::size_t>(destination) * 2 + (plain ? 1 : 0); }
};

/// The result of the injection into a document or worker, and how often it was served.
struct InjectionCount {
  inject::Destination destination = inject::Destination::kDocument;
  inject::RewriteReport report;
  std::atomic<std::uint64_t> served = 0;
};

/// A stored response in a form other than recorded.
struct AlteredResponse {
  inject::Rewritten rewritten;               ///< the report is that of the script
  std::unique_ptr<StoredResponse> response;  ///< null: serve the recorded response
  InjectionCount* count = nullptr;           ///< of a document or worker, if it is counted

  std::size_t memory_bytes() const;
};

/// One exchange ready to be served: its head and body, and further forms for clients that need
/// them. Bodies come directly from the archive's mapped file, so this must not outlive its reader.
/// Thread-safe once made.
class PreparedExchange {
 public:
  /// Called for a piece of the body that turned out to be damaged while being sent.
  using OnDamage = std::function<void(const StoredRequest&, std::string problem)>;
  /// Where to count a document or worker that was made.
  using CountOf = std::function<InjectionCount*(const Form&, const inject::RewriteReport&)>;

  /// Responses of the hosts in `h3_offers` keep their offers of HTTP/3 (Alt-Svc).
  PreparedExchange(const ArchiveReader& archive, std::uint32_t ordinal, const DateShift& dates,
                   const Scheduler& scheduler, const std::set<std::string>& h3_offers,
                   OnDamage on_damage, CountOf count_of);
  ~PreparedExchange();
  PreparedExchange(const PreparedExchange&) = delete;
  PreparedExchange& operator=(const PreparedExchange&) = delete;

  const Exchange& exchange() const { return exchange_; }
  /// The times of its parts.
  const Schedule& schedule() const { return schedule_; }
  /// Null if it cannot be served; see problem().
  const StoredResponse* response() const { return response_.get(); }
  const std::string& problem() const { return problem_; }
  /// Cut or failed: response() is its existing part, null if there was no head.
  bool broken() const { return problem_.empty() && exchange_.outcome != Outcome::kComplete; }
  /// Whether any client that requests it can use it unchanged (other_form.h).
  bool fits_all() const { return fits_all_; }

  /// The form for a client that sent `request`. `inject`: there is a script.
  Form form_for(const RequestHead& request, bool inject) const;
  /// The exchange in that form, made on first use, which takes milliseconds. Null if it is the
  /// recorded form. `script` null: nothing is inserted.
  const AlteredResponse* altered(const inject::InjectedScript* script, const Form& form) const;
  /// Makes the form for a browser that loads it as a document.
  void warm_document(const inject::InjectedScript& script) const;
  /// Its approximate memory: all forms made so far, without the mapped file.
  std::size_t memory_bytes() const { return memory_bytes_.load(std::memory_order_relaxed); }

  /// The sizes of the pieces, for a body in several.
  std::span<const std::uint64_t> piece_bytes() const { return piece_bytes_; }

 private:
  class ArchivedBody;

  void prepare(std::uint32_t ordinal, const DateShift& dates, const Scheduler& scheduler,
               const std::set<std::string>& h3_offers);
  ResponseHead head_with(HeaderList headers) const;
  StoredResponse::Parts parts_with(HeaderList headers) const;
  bool is_rewritable(inject::Destination destination) const;
  std::unique_ptr<AlteredResponse> alter(const inject::InjectedScript* script,
                                         const Form& form) const;
  std::size_t own_bytes() const;

  const ArchiveReader& archive_;
  OnDamage on_damage_;
  CountOf count_of_;
  Exchange exchange_;
  Schedule schedule_;
  std::deque<std::string> moved_dates_;  // some of headers_ are views into it
  std::optional<FittedFields> fitted_;   // likewise
  std::vector<HeaderView> headers_;      // as served; others are views into exchange_
  std::deque<FittedFields> fitted_interim_;
  std::vector<ResponseHead> interim_;
  std::vector<HeaderView> trailers_;
  std::vector<std::uint64_t> piece_bytes_;
  std::vector<coding::Coding> codings_;  // if they are known and can be decoded
  std::unique_ptr<StoredResponse> response_;
  std::string problem_;
  bool fits_all_ = false;
  bool rewritable_as_document_ = false;
  bool rewritable_as_worker_ = false;
  mutable std::array<std::atomic<AlteredResponse*>, Form::kSlots> altered_{};  // owned
  mutable std::atomic<std::size_t> memory_bytes_ = 0;
};

}  // namespace reprise
