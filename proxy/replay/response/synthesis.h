#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "archive/exchange.h"

namespace reprise {

/// What was served in another version of HTTP than it was recorded in, and what was made up or left
/// out for it.
struct Synthesised {
  std::uint64_t served_as_h2 = 0;  ///< responses
  std::uint64_t served_as_h1 = 0;
  std::uint64_t connection_fields_removed = 0;  ///< fields: h2 has no place for them
  std::uint64_t reason_phrase_added = 0;        ///< responses
  std::uint64_t framing_added = 0;              ///< responses: a length, or chunks
  std::uint64_t trailers_removed = 0;           ///< responses: HTTP/1.1 has them behind chunks only

  std::uint64_t responses() const { return served_as_h1 + served_as_h2; }
};

/// What serving this exchange as `version` changes; all zero where the version is the recorded one.
Synthesised synthesised(const StoredRequest& request, const StoredReply& reply,
                        HttpVersion version);

/// Sums of it, from any thread.
class SynthesisCounter {
 public:
  void add(const Synthesised& one);
  Synthesised total() const;
  void reset();

 private:
  std::array<std::atomic<std::uint64_t>, 6> sums_{};
};

}  // namespace reprise
