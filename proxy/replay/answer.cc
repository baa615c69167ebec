#include "proxy/replay/answer.h"

#include "proxy/replay/response/stitched_parts.h"

namespace reprise {

WholeResponse Answer::whole() const {
  if (parts != nullptr) return parts->whole();
  auto const& reply = exchange->exchange().response;
  auto const& stored = form.response->parts();
  return {.response = form.response,
          .recorded = reply.headers.list(),
          .size_bytes = stored.pieces ? reply.body.size_bytes : stored.body.bytes.size(),
          .recorded_bytes = reply.body.size_bytes,
          .piece_bytes = exchange->piece_bytes()};
}

}  // namespace reprise
