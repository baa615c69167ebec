#include "proxy/record/send_again.h"

#include <algorithm>

#include "proxy/http/h2_content.h"

namespace reprise {
namespace {

bool is_idempotent(std::string_view method) {
  auto const all = {"GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"};
  return std::ranges::find(all, method) != all.end();
}

}  // namespace

bool may_be_sent_again(const FailedAttempt& attempt) {
  if (attempt.content_read) return false;
  // Also the code of streams above the last one that a GOAWAY names (RFC 9113 section 6.8).
  if (attempt.error == std::error_code(NGHTTP2_REFUSED_STREAM, h2_category())) {
    return !attempt.fresh || !attempt.refused_before;
  }
  return !attempt.fresh && is_idempotent(attempt.method);
}

}  // namespace reprise
