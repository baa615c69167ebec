#pragma once

// Files of spans (SPANS.md). Pure.

#include <expected>
#include <string>
#include <string_view>

#include "analysis/spans/span.h"

namespace reprise {

/// A file can begin with such a mark.
inline std::string_view without_byte_order_mark(std::string_view text) {
  return text.substr(text.starts_with("\xEF\xBB\xBF") ? 3 : 0);
}

/// Reads an untrusted file: OTLP/JSON or Zipkin's JSON, one value for the whole file or one a line.
/// What cannot be read is a loss of the set. Errors: a sentence, if there is no span in it.
std::expected<SpanSet, std::string> read_span_file(std::string_view text);

}  // namespace reprise
