#pragma once

// Adds the header field traceparent (W3C Trace Context) to requests of the page's own site, so that
// what its servers record can be joined to them. Pure.

#include <cstdint>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "base/http/message.h"

namespace reprise {

/// Chooses the requests of one session, and numbers them.
class TraceContext {
 public:
  static constexpr std::size_t kSitesMax = 1024;

  /// `seed` should differ in each recording: ids are unique only within a seed.
  explicit TraceContext(std::uint64_t seed) : random_(seed) {}

  /// A value with a trace of its own, if the request is for the registrable domain of a page and
  /// has none. Pages are what the client asked for by itself: documents at the top of a tab, and
  /// requests without Origin and Referer by clients that do not say what a request is for.
  std::optional<std::string> value_for(const RequestHead& request);

 private:
  std::mt19937_64 random_;
  std::set<std::string, std::less<>> sites_;  // registrable domains
};

/// A request as its origin gets it. Borrows the text of the one received.
class TracedRequest {
 public:
  /// Without `context`, as it was received.
  TracedRequest(const RequestHead& received, TraceContext* context);
  TracedRequest(const TracedRequest&) = delete;
  TracedRequest& operator=(const TracedRequest&) = delete;

  const RequestHead& head() const { return head_; }

 private:
  RequestHead head_;
  std::optional<std::string> value_;
  std::vector<HeaderView> fields_;
};

}  // namespace reprise
