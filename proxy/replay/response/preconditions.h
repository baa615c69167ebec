#pragma once

// Conditional and partial requests for complete stored responses (RFC 9110 sections 13 and 14).
// Pure. Where the RFC leaves a choice, it follows nginx, as most recorded sites do; a test compares
// both. Dates: a Last-Modified that was recorded may be served moved (DateShift), by less in an
// earlier replay. `date_shift` is the present move; all dates from the recorded to the moved one
// name the stored response.

#include <chrono>
#include <cstdint>
#include <vector>

#include "base/http/headers.h"

namespace reprise {

/// Whether a request has a field that this file handles.
bool is_conditional_or_partial(HeaderList request);
/// Whether `asked` has the values of `recorded` in these fields and in If-Range; dates also if they
/// are moved.
bool same_conditions(HeaderList recorded, HeaderList asked, std::chrono::seconds date_shift = {});

enum class Precondition : std::uint8_t {
  kHolds,        ///< or the request has none: send the response
  kNotModified,  ///< 304
  kFailed,       ///< 412
};

/// Compares the request's If-Match, If-None-Match, If-Modified-Since and If-Unmodified-Since with
/// the ETag and Last-Modified of a stored 200 response to GET or HEAD. If-Modified-Since does not
/// count beside If-None-Match (RFC 9110 section 13.1.3), and a later date than that of the stored
/// response is not "not modified".
Precondition check_preconditions(HeaderList request, HeaderList stored,
                                 std::chrono::seconds date_shift = {});

struct ByteRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;  ///< after the last byte
  std::uint64_t size() const { return end - begin; }
  bool operator==(const ByteRange&) const = default;
};

struct Selection {
  enum class Kind : std::uint8_t {
    kWhole,          ///< 200: no ranges, no valid ones, or together larger than the whole
    kParts,          ///< 206
    kUnsatisfiable,  ///< 416
  };
  Kind kind = Kind::kWhole;
  std::vector<ByteRange> ranges;  ///< for kParts, as requested: they may overlap
};

/// The parts of a stored 200 response of `size` bytes requested by Range and If-Range. The whole if
/// the origin said `Accept-Ranges: none`.
Selection select_ranges(HeaderList request, HeaderList stored, std::uint64_t size,
                        std::chrono::seconds date_shift = {});

}  // namespace reprise
