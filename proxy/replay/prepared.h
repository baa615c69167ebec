#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "archive/reader.h"
#include "inject/rewrite.h"
#include "proxy/http/stored_response.h"

namespace reprise {

/// A stored document or worker with the script in it.
struct InjectedResponse {
  inject::Rewritten rewritten;
  std::unique_ptr<StoredResponse> response;  ///< null: it is served as it was recorded
  std::atomic<std::uint64_t> served = 0;
};

/// One exchange as it is served: its head and body laid out, and laid out again with the script in
/// it for those who load it as a document or worker. Bodies come straight from the archive's map,
/// so this lives no longer than its reader. Thread-safe once made.
class PreparedExchange {
 public:
  /// Told of a piece of the body that turned out damaged while it was sent.
  using OnDamage = std::function<void(const StoredRequest&, std::string problem)>;

  PreparedExchange(const ArchiveReader& archive, std::uint32_t ordinal, OnDamage on_damage);
  ~PreparedExchange();
  PreparedExchange(const PreparedExchange&) = delete;
  PreparedExchange& operator=(const PreparedExchange&) = delete;

  const Exchange& exchange() const { return exchange_; }
  /// Null when it cannot be served: problem() says why.
  const StoredResponse* response() const { return response_.get(); }
  const std::string& problem() const { return problem_; }

  /// The form for `destination`, made by the first who asks, which takes milliseconds. Null when
  /// the script does not go into responses of this kind.
  InjectedResponse* injected(const inject::InjectedScript& script,
                             inject::Destination destination) const;
  /// The same if it was made already.
  InjectedResponse* known_injected(inject::Destination destination) const;

 private:
  class ArchivedBody;

  StoredResponse::Parts parts_with(HeaderList headers) const;
  bool is_rewritable(inject::Destination destination) const;
  std::unique_ptr<InjectedResponse> inject(const inject::InjectedScript& script,
                                           inject::Destination destination) const;

  const ArchiveReader& archive_;
  OnDamage on_damage_;
  Exchange exchange_;
  std::vector<HeaderView> headers_;  // as served; views into exchange_
  std::unique_ptr<StoredResponse> response_;
  std::string problem_;
  bool rewritable_as_document_ = false;
  bool rewritable_as_worker_ = false;
  mutable std::atomic<InjectedResponse*> document_ = nullptr;  // owned
  mutable std::atomic<InjectedResponse*> worker_ = nullptr;    // owned
};

}  // namespace reprise
