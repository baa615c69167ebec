// Files of spans: OTLP/JSON, and what else read_span_file() takes.

#include <string_view>

#include "analysis/spans/span_file.h"
#include "tests/fuzz/fuzz_spans.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto const set = reprise::read_span_file({reinterpret_cast<const char*>(data), size});
  if (!set && set.error().empty()) std::abort();
  if (set) reprise::check_spans(*set);
  return 0;
}
