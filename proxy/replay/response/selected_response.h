#pragma once

#include <span>

#include "proxy/http/handler.h"
#include "proxy/replay/response/preconditions.h"

namespace reprise {

/// A stored 200 response of which not everything may be wanted.
/// Borrowed, but for the response.
struct WholeResponse {
  StoredResponsePtr response;
  HeaderList recorded;       ///< its fields as they were recorded: what conditions are held against
  std::uint64_t size_bytes;  ///< in this form
  std::uint64_t recorded_bytes;                ///< as it was recorded
  std::span<const std::uint64_t> piece_bytes;  ///< of a body in pieces; empty when it is in one
};

/// Answers a conditional or partial request (is_conditional_or_partial()) as a good origin would:
/// 304, 412, 206, 416, or the whole. Errors: the writer's; the archive's where a piece is damaged.
Task<void> send_selected(const RequestHead& request, const WholeResponse& whole,
                         ResponseWriter& writer);

/// Sends the bytes of `range`, straight from where they are stored. Errors: as above.
Task<void> write_range(const WholeResponse& whole, const ByteRange& range, ResponseWriter& writer);

}  // namespace reprise
