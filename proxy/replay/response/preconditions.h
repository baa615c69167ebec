#pragma once

// Conditional and partial requests for what is stored as a whole (RFC 9110 sections 13 and 14).
// Pure. Where the RFC leaves a choice, it is nginx's, which most recorded sites' choice is; a
// test holds both side by side.

#include <cstdint>
#include <vector>

#include "base/http/headers.h"

namespace reprise {

/// Whether a request has a field that this file is about.
bool is_conditional_or_partial(HeaderList request);

enum class Precondition : std::uint8_t {
  kHolds,        ///< or there is none: the response is to be sent
  kNotModified,  ///< 304
  kFailed,       ///< 412
};

/// Holds the request's If-Match, If-None-Match, If-Modified-Since and If-Unmodified-Since against
/// the ETag and Last-Modified of a stored 200 response to GET or HEAD. If-Modified-Since counts
/// beside If-None-Match, and only the very date is "not modified".
Precondition check_preconditions(HeaderList request, HeaderList stored);

struct ByteRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;  ///< behind the last byte
  std::uint64_t size() const { return end - begin; }
  bool operator==(const ByteRange&) const = default;
};

struct Selection {
  enum class Kind : std::uint8_t {
    kWhole,          ///< 200: no ranges, none that count, or together larger than all
    kParts,          ///< 206
    kUnsatisfiable,  ///< 416
  };
  Kind kind = Kind::kWhole;
  std::vector<ByteRange> ranges;  ///< of kParts, as asked for: they may overlap
};

/// What Range and If-Range ask for of a stored 200 response of `size` bytes.
Selection select_ranges(HeaderList request, HeaderList stored, std::uint64_t size);

}  // namespace reprise
