#pragma once

#include <string>
#include <vector>

#include "base/http/message.h"

namespace reprise {

/// A request's fields as they go to the origin: those between the client and us (RFC 9110 section
/// 7.6.1) stay here, an offer to upgrade with them, and Host is the target's (RFC 9112 section
/// 3.2.2). All else goes on untouched, order and case kept. A plain `Connection: keep-alive` or
/// `close` is kept: it is true of the next hop, too, and origins look at it. Where a WebSocket is
/// asked for, the offer goes on, without extensions: what is recorded is to be readable.
class ForwardedHeaders {
 public:
  explicit ForwardedHeaders(const RequestHead& head);
  ForwardedHeaders(const ForwardedHeaders&) = delete;
  ForwardedHeaders& operator=(const ForwardedHeaders&) = delete;
  HeaderList list() const { return fields_; }

 private:
  std::string host_;
  std::vector<HeaderView> fields_;
};
inline ForwardedHeaders headers_to_origin(const RequestHead& head) {
  return ForwardedHeaders(head);
}

}  // namespace reprise
