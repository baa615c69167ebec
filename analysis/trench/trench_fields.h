#pragma once

// A trace in the header fields of a response (TRENCH.md). Pure.

#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "analysis/trench/trench_trace.h"
#include "base/http/headers.h"

namespace reprise {

inline constexpr std::string_view kTrenchField = "Banky-Trace";

/// What a response says about its trace. Both are empty if it says nothing.
struct TrenchFields {
  std::string url;  ///< as sent: it can be relative to the request's
  std::optional<TrenchTrace> trace;
};

/// Reads the untrusted fields of a response's head and trailers. Errors: a sentence ("line 5 of 62
/// is missing").
std::expected<TrenchFields, std::string> read_trench_fields(HeaderList head,
                                                            HeaderList trailers = {});

}  // namespace reprise
