// Results of page loads, anybody's: what is accepted can be read again once it is written,
// and compared, with itself to no difference.

#include <boost/json/serialize.hpp>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "analysis/comparison.h"
#include "pageload/results/result_file.h"

using namespace reprise;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto const result = read_result({reinterpret_cast<const char*>(data), size});
  if (!result) {
    if (result.error().empty()) std::abort();
    return 0;
  }
  if (!read_result(boost::json::serialize(to_json(*result)))) std::abort();
  auto const read = measurements_of(*result);
  if (!read) {
    if (read.error().empty()) std::abort();
    return 0;
  }
  auto const comparison = compare(*read, *read, {});
  if (comparison.verdict == Verdict::kDifferent) std::abort();
  return 0;
}
