#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "proxy/http/handler.h"
#include "proxy/replay/response/preconditions.h"

namespace reprise {

/// A stored 200 response of which a client may need only parts. Borrowed, except for the response.
struct WholeResponse {
  StoredResponsePtr response;
  HeaderList recorded;                         ///< its fields as recorded, for comparing conditions
  std::uint64_t size_bytes;                    ///< in this form
  std::uint64_t recorded_bytes;                ///< as recorded
  std::span<const std::uint64_t> piece_bytes;  ///< for a body in pieces; empty if it is in one
};

/// The answer to a conditional or partial request for a complete response.
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
  std::vector<ByteRange> ranges;  ///< as requested: they may overlap
};

/// The answer of a good origin with `whole` to a request of `method` with `headers`. `date_shift`:
/// see preconditions.h. Pure.
Selected select(std::string_view method, HeaderList headers, const WholeResponse& whole,
                std::chrono::seconds date_shift = {});

/// Sends that answer. Errors: the writer's; the archive's if a piece is damaged.
Task<void> send_selected(const Selected& selected, const WholeResponse& whole,
                         ResponseWriter& writer);

/// Sends the bytes of `range`, directly from their storage. Errors: as above.
Task<void> write_range(const WholeResponse& whole, const ByteRange& range, ResponseWriter& writer);

}  // namespace reprise
