// Trace files: what is accepted is in order, and delivers.

#include <algorithm>
#include <cstdlib>

#include "shaper/trace.h"

using namespace reprise;
using std::chrono::nanoseconds;

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto const trace = Trace::parse({reinterpret_cast<const char*>(data), size}, "fuzz");
  if (!trace) {
    check(!trace.error().empty());
    return 0;
  }
  check(std::ranges::is_sorted((*trace)->times_ms()));
  check((*trace)->period() > nanoseconds(0));
  check((*trace)->mean_rate_bps() > 0 || (*trace)->period() > std::chrono::hours(1));
  TraceCursor cursor(*trace, nanoseconds(5));
  nanoseconds last{0};
  for (int i = 0; i < 100; ++i) {
    auto const from = last + nanoseconds(i * 12'345);
    auto const time = cursor.take(1 + static_cast<std::uint64_t>(i) * 97, from);
    check(time >= from && time >= last);
    last = time;
  }
  return 0;
}
