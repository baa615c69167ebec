#pragma once

// What the fuzz targets of the importers share: whatever comes, nothing crashes or hangs, and what
// reaches the archive could have been an exchange.

#include <cstdlib>
#include <string_view>

#include "tests/archive/import/collecting_sink.h"

namespace reprise::importing {

inline void check(bool holds) {
  if (!holds) std::abort();
}

inline void check_exchanges(const CollectingSink& sink) {
  for (const Exchange& exchange : sink.exchanges) {
    check(!exchange.request.method.empty() && !exchange.request.host.empty());
    check(exchange.request.port != 0 && exchange.sequence > 0);
    check(exchange.request.target.starts_with('/') || exchange.request.target == "*");
    check((exchange.response.status == 0) == (exchange.outcome == Outcome::kOriginFailed));
    for (auto const& field : exchange.response.headers.list()) {
      check(!field.name.empty() && field.value.find_first_of("\r\n") == std::string_view::npos);
    }
  }
}

/// Reads `data` by `read`, which is told where from and where to.
template <class Read>
void fuzz_reader(const std::uint8_t* data, std::size_t size, Read read) {
  MemoryInput input({reinterpret_cast<const char*>(data), size});
  InputSource source(input, 0, size, nullptr);
  ByteReader reader(source);
  CollectingSink sink;
  Collector collector(sink, true);
  read(reader, collector);
  check_exchanges(sink);
}

inline std::unique_ptr<ByteSource> no_attachment(const std::string&) {
  return nullptr;
}

/// The same through an Importer, as a file comes.
inline void fuzz_file(const std::uint8_t* data, std::size_t size) {
  MemoryInput input({reinterpret_cast<const char*>(data), size});
  CollectingSink sink;
  Importer importer(sink, true);
  (void)importer.read(input, no_attachment, nullptr);
  check(!importer.finish());
  check_exchanges(sink);
}

}  // namespace reprise::importing
