#include "proxy/record/send_again.h"

#include <algorithm>

#include "proxy/http/h2_content.h"

namespace reprise {
namespace {

bool is_idempotent(std::string_view method) {
  auto const all = {"GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"};
  return std::ranges::find(all, method) != all.end();
}

std::error_code h2_error(int code) {
  return {code, h2_category()};
}

/// Whether the connection has ended, not only a stream of it.
bool connection_ended(std::error_code error) {
  return error.category() != h2_category() || error == h2_error(NGHTTP2_STREAM_CLOSED);
}

}  // namespace

void KeptContent::add(Bytes piece) {
  complete_ = complete_ && piece.size() <= kBytesMax - bytes_.size();
  if (complete_) {
    bytes_.insert(bytes_.end(), piece.begin(), piece.end());
  } else {
    bytes_.clear();
  }
}

bool may_be_sent_again(const FailedAttempt& attempt) {
  // Also the code of streams above the last one that a GOAWAY names (RFC 9113 section 6.8).
  if (attempt.error == h2_error(NGHTTP2_REFUSED_STREAM)) {
    return !attempt.fresh || !attempt.refused_before;
  }
  if (attempt.fresh) return false;
  return connection_ended(attempt.error) || is_idempotent(attempt.method);
}

}  // namespace reprise
