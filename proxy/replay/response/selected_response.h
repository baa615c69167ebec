#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

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

/// What a conditional or partial request gets of a whole response.
struct Selected {
  enum class Kind : std::uint8_t {
    kAll,                 ///< 200
    kParts,               ///< 206: `ranges`
    kNotModified,         ///< 304
    kPreconditionFailed,  ///< 412
    kUnsatisfiable,       ///< 416
  };
  Kind kind = Kind::kAll;
  bool head_only = false;         ///< the request is HEAD
  std::vector<ByteRange> ranges;  ///< as asked for: they may overlap
};

/// What a good origin gives of `whole` to a request of `method` with `headers`. Pure.
Selected select(std::string_view method, HeaderList headers, const WholeResponse& whole);

/// Sends that of `whole`. Errors: the writer's; the archive's where a piece is damaged.
Task<void> send_selected(const Selected& selected, const WholeResponse& whole,
                         ResponseWriter& writer);

/// Sends the bytes of `range`, straight from where they are stored. Errors: as above.
Task<void> write_range(const WholeResponse& whole, const ByteRange& range, ResponseWriter& writer);

}  // namespace reprise
