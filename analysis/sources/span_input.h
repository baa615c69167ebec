#pragma once

// The spans of a file, which can be compressed. Pure.

#include <expected>
#include <string>

#include "analysis/spans/span.h"
#include "archive/import/source/byte_source.h"

namespace reprise {

/// Reads all of an untrusted source, up to 1 GiB, as read_span_file() does. Errors: a sentence.
std::expected<SpanSet, std::string> read_spans(importing::ByteSource& from);

}  // namespace reprise
