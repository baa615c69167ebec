#pragma once

#include <string_view>
#include <system_error>
#include <vector>

#include "base/bytes.h"

namespace reprise {

/// The content of a request, as far as it was read: a client sends it only once, and an origin may
/// need it again. At most kBytesMax.
class KeptContent {
 public:
  static constexpr std::size_t kBytesMax = 64 << 10;

  void add(Bytes piece);
  /// Whether everything that was read is kept.
  bool complete() const { return complete_; }
  /// Everything that was read; empty if that is too long. Valid until the next add().
  Bytes bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
  bool complete_ = true;
};

/// An attempt to send a request that ended before a byte of its response came.
struct FailedAttempt {
  std::string_view method;
  std::error_code error;
  bool fresh = false;           ///< over a connection that was dialled for it
  bool refused_before = false;  ///< by another fresh connection
};

/// Whether a client without this proxy would send the request over another connection, which needs
/// its content again. A refusal proves that the origin did nothing with it (RFC 9113 section 8.7);
/// a fresh connection may refuse it once. An older connection may have ended because it was idle:
/// browsers then send requests of all methods again. RFC 9110 section 9.2.2 permits a proxy only
/// idempotent ones, but the client cannot do it here: its own connection lasts. If only a stream is
/// reset, the method must be idempotent. Pure.
bool may_be_sent_again(const FailedAttempt& attempt);

}  // namespace reprise
