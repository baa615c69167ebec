#pragma once

#include "archive/export/job.h"
#include "archive/export/text.h"

namespace reprise::exporting {

/// A stored body as HAR has it: without its content codings where it really has them, as text where
/// it is UTF-8 and as base64 elsewhere. Found out by going through it once; nothing is held.
struct BodyForm {
  static constexpr std::size_t kDecodedBytesMax = 64 << 20;

  bool decoded = false;  ///< there were codings, and they can be undone
  bool broken = false;   ///< there should be codings, but it is written as it is stored
  bool utf8 = false;
  std::uint64_t size_bytes = 0;  ///< as written, before base64
};

/// `headers`: those of its message, empty for a body that is written as it is stored.
BodyForm survey_body(Job& job, const Headers& headers, const StoredBody& body);

/// The members "text" and, if there must be one, "encoding".
void write_body_text(Job& job, const Headers& headers, const StoredBody& body, const BodyForm& form,
                     JsonWriter& json);

}  // namespace reprise::exporting
