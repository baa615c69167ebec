// Frames and offload headers as hostile as can be: a shape that is accepted can be cut anywhere,
// within the frame.

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <span>

#include "shaper/packet/segments.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace reprise;
  OffloadHeader offload;
  if (size < sizeof offload + 1) return 0;
  std::memcpy(&offload, data, sizeof offload);
  std::uint32_t const step = data[sizeof offload] % 16 + 1;
  auto const frame = std::as_bytes(std::span(data, size).subspan(sizeof offload + 1));
  auto const shape = shape_of(frame, offload);
  if (!shape) return 0;
  std::size_t payload = 0;
  std::size_t charged = 0;
  for (std::uint32_t first = 0; first < shape->segments; first += step) {
    auto const count = std::min(step, shape->segments - first);
    for (std::uint32_t i = first; i < first + count; ++i) {
      if (shape->packet_bytes(i) == 0 || shape->packet_bytes(i) > 65535) std::abort();
      charged += shape->packet_bytes(i);
    }
    if (shape->kind == FrameShape::Kind::whole) continue;
    auto const cut = cut_segments(frame, offload, *shape, first, count);
    if (cut.payload_at + cut.payload_bytes > frame.size() || cut.payload_bytes == 0 ||
        cut.headers_bytes > cut.headers.size()) {
      std::abort();
    }
    payload += cut.payload_bytes;
  }
  if (shape->kind != FrameShape::Kind::whole && payload != shape->payload_bytes) std::abort();
  if (charged < frame.size() - kEthernetBytes) std::abort();
  return 0;
}
