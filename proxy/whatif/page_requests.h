#pragma once

// What a recorded session requested, as far as a what-if needs it. Pure.

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "archive/reader.h"
#include "proxy/whatif/intervention.h"

namespace reprise::whatif {

struct PageRequest {
  std::uint32_t ordinal = 0;  ///< position in ArchiveReader::entries()
  std::size_t number = 0;     ///< that of `ls`, which filters name: from 1, over all sessions
  std::uint64_t sequence = 0;
  Scheme scheme = Scheme::kHttp;
  std::string host;
  std::uint16_t port = 0;
  std::string method;
  std::string url;
  std::string referer;  ///< empty if unknown
  /// What the browser asked for, as `as` of a preload: "script", "style", "image", "font",
  /// "fetch", ...; empty if unknown.
  std::string as;
  /// Asked for with CORS, as by `crossorigin`. Without Sec-Fetch-Mode this is a guess: true for
  /// fonts and fetches.
  bool cors = false;
  bool is_document = false;     ///< HTML for a window or a frame, complete
  bool is_answered = false;     ///< there is a response
  std::vector<std::size_t> by;  ///< the interventions that select it, by their number

  /// "https://example.org:8443"
  std::string origin() const;
};

/// The requests of one session, in recorded order.
class PageRequests {
 public:
  /// `session` is a number, not 0. Damaged exchanges are skipped.
  static PageRequests read(const ArchiveReader& archive, std::uint32_t session,
                           std::span<const Intervention> interventions);

  const std::vector<PageRequest>& all() const { return all_; }
  std::uint32_t session() const { return session_; }
  /// The page's own document: of the first start URL, otherwise the first one. Null: none.
  const PageRequest* page() const;
  /// The document that made the browser request `resource`, which is one of all(): that of its
  /// Referer, of the Referer of the style sheet or script that it names, otherwise the last one
  /// before of its origin, or of any. Of several documents with one URL the last before counts.
  /// Null: none.
  const PageRequest* document_of(const PageRequest& resource) const;

 private:
  const PageRequest* last_before(const PageRequest& resource,
                                 const std::vector<std::size_t>& places) const;

  std::uint32_t session_ = 0;
  std::vector<PageRequest> all_;
  std::unordered_map<std::string, std::size_t> by_url_;  // the first of each, with a response
  // The places of documents in all_, by URL.
  std::unordered_map<std::string, std::vector<std::size_t>> documents_by_url_;
  // The places of documents in all_, by origin ("https://example.org"); of all under "".
  std::unordered_map<std::string, std::vector<std::size_t>> documents_;
  std::string start_url_;
};

}  // namespace reprise::whatif
