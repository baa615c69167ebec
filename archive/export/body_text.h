#pragma once

#include "archive/export/job.h"
#include "archive/export/text.h"

namespace reprise::exporting {

/// The form of a stored body in HAR: decoded if its content codings are true, as text if it is
/// UTF-8, otherwise as base64. Found by reading it once; nothing is held.
struct BodyForm {
  static constexpr std::size_t kDecodedBytesMax = 64 << 20;

  bool decoded = false;  ///< it has codings that can be decoded
  bool broken = false;   ///< it should have codings, but is written as stored
  bool utf8 = false;
  std::uint64_t size_bytes = 0;  ///< as written, before base64
};

/// `headers`: those of its message; empty for a body that is written as stored.
BodyForm survey_body(Job& job, const Headers& headers, const StoredBody& body);

/// Writes the members "text" and, if needed, "encoding".
void write_body_text(Job& job, const Headers& headers, const StoredBody& body, const BodyForm& form,
                     JsonWriter& json);

}  // namespace reprise::exporting
