// Traces of a browser: whatever is written, there are frames in the order of time or a fault, and
// figures that a page can show.

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/visual/trace_visuals.h"
#include "analysis/visual/visual_progress.h"

using namespace reprise;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view const text(reinterpret_cast<const char*>(data), size);
  importing::MemoryInput input(text);
  importing::InputSource source(input, 0, text.size(), nullptr);
  importing::ByteReader reader(source);
  std::vector<std::string> const urls = {"https://shop.test/", "https://shop.test/home"};
  auto const visuals = trace_visuals(reader, urls);
  if (!visuals) {
    if (visuals.error().empty()) std::abort();
    return 0;
  }
  if (!std::isfinite(visuals->total_blocking_ms.value_or(0))) std::abort();
  std::vector<SeenFrame> seen;
  for (auto const& frame : visuals->frames) {
    if (auto const histogram = histogram_of_jpeg(frame.jpeg)) {
      seen.push_back({frame.at_ms, *histogram});
    }
  }
  if (!std::ranges::is_sorted(seen, {}, &SeenFrame::at_ms)) std::abort();
  if (auto const progress = visual_progress(seen)) {
    if (progress->percent.size() != seen.size() || progress->percent.back() != 100) std::abort();
    if (!(progress->speed_index_ms <= progress->visually_complete_ms + 1) &&
        std::ranges::is_sorted(progress->percent)) {
      std::abort();
    }
  }
  return 0;
}
