// Results of page loads, anybody's: what is accepted can be compared, with itself to no difference.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "analysis/comparison.h"

using namespace reprise;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto const read = parse_measurements({reinterpret_cast<const char*>(data), size});
  if (!read) {
    if (read.error().empty()) std::abort();
    return 0;
  }
  auto const comparison = compare(*read, *read, {});
  if (comparison.verdict == Verdict::kDifferent) std::abort();
  return 0;
}
