#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "archive/exchange.h"

namespace reprise {

/// Counts responses served in another HTTP version than recorded, and what was added or removed for
/// that.
struct Synthesised {
  std::uint64_t served_as_h2 = 0;  ///< responses
  std::uint64_t served_as_h1 = 0;
  std::uint64_t connection_fields_removed = 0;  ///< fields that h2 does not have
  std::uint64_t reason_phrase_added = 0;        ///< responses
  std::uint64_t framing_added = 0;              ///< responses: a length, or chunks
  std::uint64_t trailers_removed = 0;  ///< responses: HTTP/1.1 has trailers only after chunks

  std::uint64_t responses() const { return served_as_h1 + served_as_h2; }
};

/// The changes needed to serve this exchange as `version`; all zero if it is the recorded one.
Synthesised synthesised(const StoredRequest& request, const StoredReply& reply,
                        HttpVersion version);

/// Sums them, from any thread.
class SynthesisCounter {
 public:
  void add(const Synthesised& one);
  Synthesised total() const;
  void reset();

 private:
  std::array<std::atomic<std::uint64_t>, 6> sums_{};
};

}  // namespace reprise
