#pragma once

#include <string>

#include "analysis/spans/span.h"

namespace reprise {

/// An id of 16 digits.
inline std::string id_of(unsigned number) {
  auto const digits = std::to_string(number);
  return std::string(16 - digits.size(), '0') + digits;
}

/// A span of trace 1 on the host "web"; its times are in ms.
inline Span span_of(unsigned id, unsigned parent, double start_ms, double end_ms,
                    std::string name = "work", std::string kind = "internal") {
  return {.trace_id = id_of(0) + id_of(1),
          .span_id = id_of(id),
          .parent_id = parent == 0 ? "" : id_of(parent),
          .name = std::move(name),
          .kind = std::move(kind),
          .service = "shop",
          .host = "web",
          .start_ns = static_cast<std::int64_t>(start_ms * 1e6),
          .end_ns = static_cast<std::int64_t>(end_ms * 1e6)};
}

}  // namespace reprise
