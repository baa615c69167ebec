#pragma once

#include <string>
#include <vector>

#include "base/http/message.h"
#include "proxy/record/request_rules.h"

namespace reprise {

/// A request's fields for the origin. Removed are those between the client and us (RFC 9110 section
/// 7.6.1), including an offer to upgrade, and Host is the target's (RFC 9112 section 3.2.2). All
/// others are unchanged, in order and case. A plain `Connection: keep-alive` or `close` is kept: it
/// is also true for the next hop, and origins look at it. If a WebSocket is requested, the offer is
/// forwarded, without extensions, so that the recording is readable. Last are the fields that the
/// user adds.
class ForwardedHeaders {
 public:
  /// Both must outlive it. `rules` can be null.
  explicit ForwardedHeaders(const RequestHead& head, const RequestRules* rules = nullptr);
  ForwardedHeaders(const ForwardedHeaders&) = delete;
  ForwardedHeaders& operator=(const ForwardedHeaders&) = delete;
  HeaderList list() const { return fields_; }

 private:
  std::string host_;
  std::vector<HeaderView> fields_;
};

}  // namespace reprise
