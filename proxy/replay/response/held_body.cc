#include "proxy/replay/response/held_body.h"

#include "archive/match/parameters.h"
#include "base/http/digest.h"

namespace reprise {

Task<void> HeldBody::read(BodyReader& body) {
  Digester digester;
  while (!body.finished()) {
    auto const piece = co_await body.read();
    if (!piece) co_return fail(piece.error());
    digester.update(*piece);
    size_bytes_ += piece->size();
    hold(*piece);
  }
  if (size_bytes_ > 0) digest_ = digester.finish();
  co_return Result<void>();
}

void HeldBody::hold(Bytes piece) {
  if (!holds_) return;
  auto const is_short = bytes_.size() + piece.size() <= kNormalisedBodyBytesMax;
  if (is_short && held_bytes_.fetch_add(piece.size()) + piece.size() <= kHeldBytesMax) {
    bytes_.insert(bytes_.end(), piece.begin(), piece.end());
    return;
  }
  if (is_short) held_bytes_ -= piece.size();
  drop();
  holds_ = false;
}

void HeldBody::drop() {
  held_bytes_ -= bytes_.size();
  bytes_ = {};
}

void HeldBody::describe(AskedRequest& asked) const {
  asked.key.body_digest = digest_;
  asked.body_bytes = size_bytes_;
  asked.body = bytes_;
}

}  // namespace reprise
