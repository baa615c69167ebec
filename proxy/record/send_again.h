#pragma once

#include <string_view>
#include <system_error>

namespace reprise {

/// An attempt to send a request that ended before a byte of its response came.
struct FailedAttempt {
  std::string_view method;
  std::error_code error;
  bool fresh = false;           ///< over a connection that was dialled for it
  bool refused_before = false;  ///< by another fresh connection
  bool content_read = false;    ///< its client, which sends content only once, was asked for it
};

/// Whether the request may be sent over another connection. A refusal proves that the origin did
/// nothing with it, so the method does not matter (RFC 9113 section 8.7); a fresh connection may
/// refuse it once. Otherwise an idempotent request was sent over a connection that the origin had
/// closed as idle (RFC 9110 section 9.2.2). Pure.
bool may_be_sent_again(const FailedAttempt& attempt);

}  // namespace reprise
